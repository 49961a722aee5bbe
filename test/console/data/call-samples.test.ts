import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  SAMPLE_LANGUAGES,
  type SampleCall,
  type SampleLanguage,
  sampleOf,
} from '../../../src/console/data/call-samples.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { json, raw } from '../../support/upstream/index.ts'
import { withGateway } from '../../support/with-gateway.ts'

const KEY = 'sk-a-master-key-of-these-samples'
const run = promisify(execFile)

let upstream: Upstream
const deployment = (name: string, mode: string) => `
  - model_name: ${name}
    gateway_params: { model: openai-compatible/${name}, api_base: ${upstream.url}/v1, api_key: sk-upstream }
    model_info: { mode: ${mode} }`
const gateway = withGateway(async () => {
  upstream = await startUpstream()
  return `
general_settings: { master_key: "${KEY}" }
model_list:
  - model_name: echo
    gateway_params: { model: echo/echo }${deployment('vectors', 'embedding')}${deployment('voice', 'audio_speech')}${deployment('ears', 'audio_transcription')}`
})

const QUESTION = 'It\'s "why"\\n of $HOME,\nin `two` lines: ✓?'
/** What each language has to get right: quotes, lines, words of its own for true and nothing, names that are no names. */
const CALLS: Readonly<Record<string, Omit<SampleCall, 'origin'>>> = {
  'a question': {
    endpoint: 'chat/completions',
    body: { model: 'echo', messages: [{ role: 'user', content: QUESTION }], temperature: 0.5 },
  },
  'a question with fields that clients do not know': {
    endpoint: 'chat/completions',
    body: {
      model: 'echo',
      messages: [{ role: 'user', content: QUESTION }],
      metadata: { session_id: 'night', 'a-name': 'x' },
      top_k: 3,
      thinking: { enabled: true, budget: null },
    },
  },
  'a streamed answer': {
    endpoint: 'chat/completions',
    body: { model: 'echo', messages: [{ role: 'user', content: QUESTION }], stream: true },
  },
  vectors: { endpoint: 'embeddings', body: { model: 'vectors', input: ['one', QUESTION] } },
  speech: { endpoint: 'audio/speech', body: { model: 'voice', input: QUESTION, voice: 'alloy' } },
  'a recording': { endpoint: 'audio/transcriptions', body: { model: 'ears' }, file: 'audio.mp3' },
}

const FILES: Readonly<Record<SampleLanguage, readonly [file: string, program: string]>> = {
  curl: ['sample.sh', 'sh'],
  python: ['sample.py', 'python3'],
  typescript: ['sample.mts', process.execPath],
  javascript: ['sample.mjs', process.execPath],
}

let folder: string
const has = await Promise.all(
  ['sh', 'curl', 'python3'].map(async (program) => ((await works(program, '--version')) ? program : '')),
)
const languages = SAMPLE_LANGUAGES.map(({ id }) => id).filter(
  (id) => (id !== 'curl' || has.includes('curl')) && (id !== 'python' || has.includes('python3')),
)

async function works(program: string, argument: string): Promise<boolean> {
  return run(program, program === 'sh' ? ['-c', 'true'] : [argument]).then(
    () => true,
    () => false,
  )
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-samples-'))
  await symlink(resolve('node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'audio.mp3'), 'ID3 a recording')
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await upstream?.close()
})

/** What the program prints. */
async function printed(language: SampleLanguage, call: SampleCall, variables: Record<string, string> = {}) {
  const [file, program] = FILES[language]
  await writeFile(join(folder, file), sampleOf(language, call))
  const env = {
    PATH: process.env.PATH,
    PYTHONPATH: resolve('test/support/python'),
    PYTHONDONTWRITEBYTECODE: '1',
    ...variables,
  }
  return (await run(program, [file], { cwd: folder, env })).stdout
}

describe.each(languages)('samples in %s', (language) => {
  it.each(Object.keys(CALLS))('%s', async (name) => {
    const call = { ...(CALLS[name] as Omit<SampleCall, 'origin'>), origin: gateway.url }
    upstream.script('voice', [raw(200, 'ID3 spoken', { 'content-type': 'audio/mpeg' })])
    upstream.script('ears', [json(200, { text: 'what was heard' })])
    // The key is in the environment, or, where it is known, in the text.
    const isKnown = name !== 'a question'
    const text = await printed(
      language,
      { ...call, key: isKnown ? KEY : undefined },
      isKnown ? {} : { GATEWAY_KEY: KEY },
    )
    if (name === 'speech') {
      expect(await readFile(join(folder, 'speech.mp3'), 'utf8')).toBe('ID3 spoken')
      await rm(join(folder, 'speech.mp3'))
    } else if (name === 'a recording') expect(text).toContain('what was heard')
    else if (name === 'vectors') expect(text).toContain('embedding')
    // What clients print is the answer; what others print is how it came.
    else if (language === 'python' || language === 'typescript') expect(text).toContain(QUESTION)
    else for (const part of ['$HOME,', '`two`', '✓']) expect(text).toContain(part)
  })
})

it('every language of this machine was run', () => {
  expect(languages).toEqual(expect.arrayContaining(['typescript', 'javascript']))
})
