import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const check = fileURLToPath(new URL('../../src/node.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'gateway-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function run(yaml: string | undefined) {
  const file = join(folder, 'some.yaml')
  if (yaml !== undefined) writeFileSync(file, yaml)
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [check, 'check', yaml === undefined ? `${file}.absent` : file],
    {
      encoding: 'utf8',
      env: { NODE_NO_WARNINGS: '1', NODE_COMPILE_CACHE: join(folder, 'compiled') },
    },
  )
  return { status, stdout, stderr }
}

const entry = (name: string) => `  - { model_name: ${name}, gateway_params: { model: echo/x } }\n`

describe('npm run config:check', () => {
  it('counts what a good file holds', () => {
    const yaml = `model_list:\n${entry('a')}${entry('b')}${entry('a')}`
    expect(run(yaml)).toEqual({ status: 0, stdout: 'ok: 2 models, 3 deployments\n', stderr: '' })
    expect(run(`model_list:\n${entry('a')}`).stdout).toBe('ok: 1 model, 1 deployment\n')
  })

  it('finds what a provider needs and a deployment lacks, as a start does', () => {
    const lacking = '  - { model_name: m, gateway_params: { model: bedrock/nova, api_key: k-canary-1 } }\n'
    expect(run(`model_list:\n${entry('a')}${lacking}`)).toEqual({
      status: 1,
      stdout: '',
      stderr: "line 3: model_list[1]: provider 'bedrock' needs gateway_params.region\n",
    })
  })

  it('notes what is left to the database', () => {
    const stored = 'general_settings: { database_url: "postgres://db.example/gateway" }\n'
    const chain = 'gateway_settings: { fallbacks: [{ a: [pool] }] }\n'
    expect(run(`${stored}${chain}model_list:\n${entry('a')}`)).toEqual({
      status: 0,
      stdout:
        "ok: 1 model, 1 deployment\nnote: line 2: gateway_settings.fallbacks[0].a[0]: names 'pool', which only the database can hold\n",
      stderr: '',
    })
  })

  it('notes deployments that their vendor will refuse for want of a credential', () => {
    const params = (text: string) => `  - { model_name: m, gateway_params: { model: ${text} } }\n`
    const all = [
      'openai/gpt-5',
      'anthropic/claude',
      'openai/gpt-5, api_key: sk-canary-1',
      'bedrock/x, region: eu-west-1, aws_access_key_id: a, aws_secret_access_key: b',
      'openai/gpt-5, credential: shared',
      'openai/gpt-5, api_base: "https://proxy.example/v1"',
      'openai/gpt-5, headers: { authorization: Bearer x }',
      'ollama/llama3.2',
    ]
    const stored = 'general_settings: { database_url: "postgres://db.example/gateway" }\n'
    expect(run(`${stored}model_list:\n${all.map(params).join('')}`)).toEqual({
      status: 0,
      stdout: [
        'ok: 1 model, 8 deployments',
        'note: line 3: model_list[0].gateway_params: has no api_key, without which openai refuses every call',
        'note: line 4: model_list[1].gateway_params: has no api_key, without which anthropic refuses every call',
        '',
      ].join('\n'),
      stderr: '',
    })
  })

  it('says what to change in a bad one, and fails', () => {
    expect(run('router_settings: { timeout: soon }\nmodels: []')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'line 1: router_settings.timeout: must be a number\nline 2: models: is not a known field; remove it\n',
    })
  })

  it('names the place of what is not YAML once', () => {
    expect(run('model_list:\n\t- a\n').stderr).toBe('line 2, column 1: a tab indents this line; use spaces\n')
  })

  it('says what to do about a file that is not there', () => {
    expect(run(undefined)).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^There is no file \S+\.absent\. .*model-gateway init\n$/),
    })
  })
})
