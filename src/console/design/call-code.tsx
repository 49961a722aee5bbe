import { useState } from 'preact/hooks'
import { Code } from './code.tsx'
import { Segmented } from './tabs.tsx'

interface Way {
  readonly path: string
  /** Of the OpenAI clients. */
  readonly method: string
  readonly body: Readonly<Record<string, unknown>>
}

const MESSAGES = [{ role: 'user', content: 'Say hello.' }]

/** How each kind of model is called. */
const WAYS: Readonly<Record<string, Way>> = {
  chat: { path: '/chat/completions', method: 'chat.completions.create', body: { messages: MESSAGES } },
  completion: { path: '/completions', method: 'completions.create', body: { prompt: 'Once upon a time' } },
  embedding: { path: '/embeddings', method: 'embeddings.create', body: { input: 'Some text' } },
  image_generation: { path: '/images/generations', method: 'images.generate', body: { prompt: 'A lighthouse' } },
  audio_speech: { path: '/audio/speech', method: 'audio.speech.create', body: { input: 'Hello.', voice: 'alloy' } },
  audio_transcription: { path: '/audio/transcriptions', method: 'audio.transcriptions.create', body: {} },
  rerank: { path: '/rerank', method: '', body: { query: 'sea', documents: ['a harbour', 'a mountain'] } },
}

const LANGUAGES = [
  { id: 'curl', label: 'curl' },
  { id: 'python', label: 'Python' },
  { id: 'typescript', label: 'TypeScript' },
  { id: 'env', label: '.env' },
  { id: 'tools', label: 'Coding tools' },
] as const
type Language = (typeof LANGUAGES)[number]['id']

interface Call {
  readonly model: string
  readonly mode: string
  readonly key: string
}

/** Code that makes a first call, in several languages. */
export function CallCode({
  model,
  mode = 'chat',
  apiKey = 'sk-…',
}: {
  readonly model: string
  readonly mode?: string | undefined
  readonly apiKey?: string
}) {
  const [language, setLanguage] = useState<Language>('curl')
  // Coding tools talk; other models are nothing to them.
  const offered = LANGUAGES.filter(({ id }) => id !== 'tools' || mode === 'chat')
  const shown = offered.some(({ id }) => id === language) ? language : 'curl'
  return (
    <div class="stack">
      <div>
        <Segmented label="Language" options={offered} current={shown} onChange={setLanguage} />
      </div>
      <Code label={`How to call ${model}`} text={codeOf(shown, { model, mode, key: apiKey })} />
    </div>
  )
}

export function codeOf(language: Language, call: Call): string {
  const { path, method, body } = WAYS[call.mode] ?? (WAYS.chat as Way)
  const base = `${location.origin}/v1`
  const whole = { model: call.model, ...body }
  const isFile = call.mode === 'audio_transcription'
  switch (language) {
    case 'curl':
      return [
        `curl ${base}${path}`,
        `  -H 'Authorization: Bearer ${call.key}'`,
        ...(isFile
          ? [`  -F model=${quoted(call.model)}`, '  -F file=@speech.mp3']
          : [`  -H 'Content-Type: application/json'`, `  -d ${quoted(lines(whole))}`]),
        ...(call.mode === 'audio_speech' ? ['  -o speech.mp3'] : []),
      ].join(' \\\n')
    case 'python': {
      const named = Object.entries(whole).map(([name, value]) => `    ${name}=${JSON.stringify(value)},`)
      const inside = isFile ? [...named, '    file=open("speech.mp3", "rb"),'] : named
      return [
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url="${base}", api_key="${call.key}")`,
        ...(method
          ? [`answer = client.${method}(`, ...inside, ')']
          : [`answer = client.post("${path}", cast_to=object, body=${JSON.stringify(whole)})`]),
        'print(answer)',
      ].join('\n')
    }
    case 'typescript': {
      const named = Object.entries(whole).map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`)
      const inside = isFile ? [...named, `  file: createReadStream('speech.mp3'),`] : named
      return [
        ...(isFile ? [`import { createReadStream } from 'node:fs'`] : []),
        `import OpenAI from 'openai'`,
        '',
        `const client = new OpenAI({ baseURL: '${base}', apiKey: '${call.key}' })`,
        ...(method
          ? [`const answer = await client.${method}({`, ...inside, '})']
          : [`const answer = await client.post('${path}', { body: ${JSON.stringify(whole)} })`]),
        'console.log(answer)',
      ].join('\n')
    }
    case 'env':
      return [`OPENAI_BASE_URL=${base}`, `OPENAI_API_KEY=${call.key}`].join('\n')
    case 'tools':
      return [
        '# Claude Code',
        `export ANTHROPIC_BASE_URL=${location.origin}`,
        `export ANTHROPIC_AUTH_TOKEN=${call.key}`,
        `export ANTHROPIC_MODEL=${quoted(call.model)}`,
        '',
        '# Tools that speak the API of OpenAI',
        `export OPENAI_BASE_URL=${base}`,
        `export OPENAI_API_KEY=${call.key}`,
      ].join('\n')
  }
}

/** JSON with a line for each field. */
function lines(body: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(body).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  return `{\n${fields.join(',\n')}\n  }`
}

/** As one word of a shell. */
const quoted = (text: string) => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
