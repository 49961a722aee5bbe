import { describe, expect, it } from 'vitest'
import { adminApi } from '../../../support/admin-api.ts'
import { FULL_GATEWAY_SALT_KEY } from '../../../support/full-gateway.node.ts'
import { MASTER_KEY } from '../../../support/gateway.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

const YAML = `general_settings:
  log_level: warn
  master_key: os.environ/GATEWAY_MASTER_KEY
  metrics_token: canary-of-metrics
router_settings:
  num_retries: 2
  model_group_alias: { other: m }
gateway_settings:
  mcp_servers: [{ server_key: docs, base_url: 'https://docs.example/mcp?api_key=canary-of-docs' }]
  callback_settings: { webhook: { url: 'https://hooks.example/T01/canary-of-a-webhook-1?token=canary' } }
model_list:
  - model_name: m
    deployment_id: east
    gateway_params: { model: openai/x, api_key: canary-of-east }
  - model_name: m
    deployment_id: west
    gateway_params: { model: echo/m }`

describe('settings', () => {
  const gateway = withFullGateway(YAML, { embedded: true })
  const ask = adminApi(() => gateway)
  const check = async (yaml: string) => (await ask('POST', '/config/check', { yaml })).body

  it('tell of every key its value, where it comes from and what it means', async () => {
    const { status, body } = await ask('GET', '/config')
    expect(status).toBe(200)
    const keys: Record<string, Record<string, unknown>> = Object.fromEntries(
      body.data.map((row: { key: string }) => [row.key, row]),
    )
    expect(keys['general_settings.log_level']).toMatchObject({
      ...{ value: 'warn', set: true, secret: false, source: 'file', variable: null, type: 'choice', restart: true },
      ...{ choices: expect.arrayContaining(['debug', 'warn']), meaning: expect.stringMatching(/\w/) },
    })
    const hidden = { value: null, set: true, secret: true }
    expect(keys['general_settings.master_key']).toMatchObject({
      ...{ ...hidden, source: 'environment', variable: 'GATEWAY_MASTER_KEY' },
    })
    expect(keys['general_settings.salt_key']).toMatchObject({ ...hidden, source: 'environment' })
    expect(keys['general_settings.metrics_token']).toMatchObject({ ...hidden, source: 'file' })
    expect(keys['general_settings.redis_url']).toMatchObject({ value: null, set: false, source: 'default' })
    expect(keys['router_settings.num_retries']).toMatchObject({ value: 2, source: 'file' })
    expect(keys['router_settings.cooldown_time']).toMatchObject({ value: 60, source: 'default', default: 60 })
    expect(keys['router_settings.model_group_alias']).toMatchObject({ value: { other: 'm' } })
    const webhook = { value: 'https://hooks.example/T01/[secret]?token=[secret]', secret: false, source: 'file' }
    expect(keys['gateway_settings.callback_settings.webhook.url']).toMatchObject(webhook)
    expect(keys.model_list).toMatchObject({ value: 2, type: 'list of maps' })
    expect(body.data.length).toBeGreaterThan(60)
    for (const row of body.data) expect(row.meaning, row.key).not.toBe('')
    const text = JSON.stringify(body)
    for (const secret of ['canary', MASTER_KEY, FULL_GATEWAY_SALT_KEY]) expect(text).not.toContain(secret)
  })

  it('find every mistake of a file, with its line, and quote no value', async () => {
    const { ok, mistakes, changes } = await check(`general_settings:
  log_level: wrong-canary
  colour: red
router_settings:
  model_group_alias:
    "a b": nowhere
model_list:
  - model_name: m
    gateway_params: { model: bedrock/x, api_key: canary }
  - gateway_params:
      model: openai/x
      api_key: os.environ/NOT_SET_ANYWHERE`)
    expect([ok, changes]).toEqual([false, []])
    const found = mistakes.map(({ path, line }: { path: string; line: number }) => [path, line])
    expect(found).toEqual(
      expect.arrayContaining([
        ['general_settings.log_level', 2],
        ['general_settings.colour', 3],
        ['model_list[1].model_name', 10],
        ['model_list[1].gateway_params.api_key', 12],
      ]),
    )
    for (const { message } of mistakes) expect(message).toMatch(/\w/)
    expect(JSON.stringify(mistakes)).not.toContain('canary')
    const ofProvider = await check(
      'model_list:\n  - { model_name: m, gateway_params: { model: bedrock/x, api_key: k } }',
    )
    expect(ofProvider.mistakes).toMatchObject([{ path: 'model_list[0]', line: 2 }])
    const alias = await check(`x: &m { model: openai/x }\nmodel_list:\n  - { model_name: a, gateway_params: *m }`)
    expect(alias.mistakes).toMatchObject([{ path: 'x', line: 1, column: 1 }])
  })

  it.each([
    ['general_settings: [', 1],
    ['a: 1\na: 2', 2],
    ['\tlog_level: warn', 1],
  ])('find where %j is no YAML', async (yaml, line) => {
    expect((await check(yaml)).mistakes[0]).toMatchObject({ line, message: expect.any(String) })
  })

  it('tell what would differ from what runs, secrets by their names only', async () => {
    expect(await check(YAML)).toMatchObject({
      ok: true,
      mistakes: [],
      notes: [],
      models: 1,
      deployments: 2,
      changes: [],
    })
    const other = YAML.replace('warn', 'error')
      .replaceAll('canary-of', 'canary-of-another')
      .replace('num_retries: 2', 'timeout: 5')
      .replace('deployment_id: west', 'deployment_id: north')
    const { changes, ...told } = await check(other)
    expect(told).toMatchObject({ ok: true, more_changes: 0 })
    const found = Object.fromEntries(changes.map(({ path, ...change }: { path: string }) => [path, change]))
    expect(found['general_settings.log_level']).toEqual({ kind: 'changed', old: 'warn', new: 'error' })
    expect(found['router_settings.num_retries']).toEqual({ kind: 'changed', old: 2, new: 0 })
    expect(found['model_list[east].gateway_params.api_key']).toEqual({
      kind: 'changed',
      old: '[secret]',
      new: '[secret]',
    })
    expect(found['gateway_settings.callback_settings.webhook.url']).toMatchObject({ kind: 'changed' })
    expect(found['model_list[west].model_name']).toEqual({ kind: 'removed', old: 'm', new: null })
    expect(found['model_list[north].model_name']).toEqual({ kind: 'added', old: null, new: 'm' })
    expect(JSON.stringify(changes)).not.toContain('canary')
  })

  it('name what a chain leads to that is not there yet', async () => {
    const yaml = `general_settings: { database_url: 'postgres://db.example/gateway' }
gateway_settings: { fallbacks: [{ m: [quite-another] }] }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`
    expect((await check(yaml)).notes).toEqual([
      { path: 'gateway_settings.fallbacks[0].m[0]', message: "names 'quite-another', which there is not yet" },
    ])
  })

  it('are answered for what is no text of a file', async () => {
    for (const body of [{}, { yaml: 1 }, { yaml: '', more: 1 }]) {
      expect((await ask('POST', '/config/check', body)).status).toBe(400)
    }
  })

  it('tell of the installation', async () => {
    const { status, body } = await ask('GET', '/instance')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      runtime: `Node.js ${process.versions.node}`,
      processes: 1,
      store: { kind: 'in-process', mode: 'local', ok: true, latency_ms: expect.any(Number) },
      database: { kind: 'embedded', ok: true, version: expect.stringMatching(/^\d+/) },
      schema: { version: expect.stringMatching(/^[0-9a-f]{64}$/) },
      queue: { waiting: expect.any(Number), dead: 0 },
      draining: false,
    })
    // A gateway runs such work at its start.
    expect(Date.now() - Date.parse(body.clock_ran_at)).toBeLessThan(130_000)
    expect(Date.parse(body.started_at)).toBeLessThanOrEqual(Date.now())
  })
})
