import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { batchedEndpoints } from '../../../src/api/v1/batched-endpoints.ts'
import { checkLine } from '../../../src/batch/validate/check-line.ts'
import { type ValidationServices, validation } from '../../../src/batch/validate/validation.ts'
import { masterCaller } from '../../../src/identity/master-caller.ts'
import { refusal } from '../../../src/identity/refusal.ts'
import { jsonLog } from '../../../src/lib/log.ts'
import { providers } from '../../../src/providers/index.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import type { LiveRegistry } from '../../../src/routing/live/live-registry.ts'
import type { Prompt } from '../../../src/routing/prompts/prompt.ts'
import { storedTemplate } from '../../../src/routing/prompts/stored-template.ts'
import { validationRecords } from '../../../src/stores/sql/batches/validation-records.ts'
import { queries, rowsOf } from '../../../src/stores/sql/query.ts'
import type { TelemetryEvent } from '../../../src/telemetry/events.ts'
import { type BatchPlace, batchPlace } from '../../support/batch-place.node.ts'
import { registryOf } from '../../support/registry.ts'

const YAML = `
general_settings: { batch_max_lines: 300, batch_max_line_bytes: 2000 }
router_settings: { model_group_alias: { alias: m } }
model_list:
  - { model_name: m, gateway_params: { model: echo/m } }
  - { model_name: forbidden, gateway_params: { model: echo/f } }`

const line = (fields: object = {}) =>
  JSON.stringify({
    custom_id: 'a',
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'm', messages: [] },
    ...fields,
  })
/** A line that names a prompt. */
const prompted = (metadata: object, fields: object = {}) =>
  line({ body: { model: 'm', messages: [], metadata }, ...fields })
const variables = { name: { type: 'string' } }
const messages = [{ role: 'system', content: 'Greet {{name}}.' }]
const template = storedTemplate({ messages, variables })
/** Of its versions only the newest is at hand. */
const greeting: Prompt = {
  key: 'greeting',
  createdAt: '',
  labels: { production: 2 },
  latest: 2,
  versions: new Map(template ? [[2, template]] : []),
}
const lines = (count: number) => Array.from({ length: count }, (_, at) => line({ custom_id: `id-${at}` })).join('\n')

describe('the validation of batches', () => {
  let place: BatchPlace
  let services: ValidationServices
  const told: TelemetryEvent[] = []
  const going = new AbortController().signal

  beforeAll(async () => {
    place = await batchPlace()
    const config = loadConfig(YAML, { GATEWAY_MASTER_KEY: 'sk-master-of-these-tests-0001' })
    const known = registryOf(config, providers)
    const resolve = (name: string) => {
      const group = known.resolve(name === 'ruled' ? 'm' : name)
      return group && name === 'ruled' ? { ...group, name, policy: { promptRef: 'gone:live' } } : group
    }
    const registry = { ...known, resolve, prompts: new Map([['greeting', greeting]]) }
    services = {
      config,
      records: validationRecords(place.sql),
      blobs: place.blobs,
      callers: { currentOrderer: async () => ({ ...masterCaller, mayCall: ({ name }) => name !== 'forbidden' }) },
      live: { current: () => registry, attend: () => undefined } as Partial<LiveRegistry> as LiveRegistry,
      clock: { now: Date.now },
      telemetry: { emit: (event) => void told.push(event), settledCounters: () => ({}) },
      log: jsonLog('silent', () => {}),
      endpoints: batchedEndpoints,
    }
  })
  afterAll(() => place.close())

  async function validated(input: string | Uint8Array, more: Partial<ValidationServices> = {}) {
    const id = await place.plant(input)
    expect(await validation({ ...services, ...more }).step(going)).toBe(true)
    return place.batch(id)
  }

  it('lets the requests of a file without mistakes run, and notes where they begin', async () => {
    const input = `\n${lines(130).replaceAll('\n', '\r\n')}\n\n`
    const { batch_id, ...batch } = await validated(input)
    expect(batch).toMatchObject({ status: 'in_progress', errors: null, requests: 130 })
    expect(batch.in_progress_at).not.toBeNull()
    const [row] = await rowsOf(
      place.sql,
      queries.selectFrom('gateway_batch').select(['checkpoints', 'lease_token']).where('batch_id', '=', batch_id),
    )
    const found = row?.checkpoints?.map(({ offset, line: at }) => [input.slice(offset).split('\r\n')[0], at])
    expect(found).toEqual([0, 64, 128].map((at) => [line({ custom_id: `id-${at}` }), at + 2]))
    expect(row?.lease_token).toBeNull()
    expect(await validation(services).step(going)).toBe(false)
  })

  it.each([
    ['no JSON', '{"custom_id":', 'invalid_json_line', null],
    ['no object', '["a"]', 'invalid_json_line', null],
    ['no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), 'invalid_json_line', null],
    ['too deep', `{"a":${'['.repeat(600)}${']'.repeat(600)}}`, 'invalid_json_line', null],
    ['too long', line({ custom_id: 'a'.repeat(500), more: 'x'.repeat(2000) }), 'line_too_long', null],
    ['no custom_id', line({ custom_id: undefined }), 'missing_required_parameter', 'custom_id'],
    ['a number as custom_id', line({ custom_id: 1 }), 'invalid_custom_id', 'custom_id'],
    ['a long custom_id', line({ custom_id: 'a'.repeat(513) }), 'invalid_custom_id', 'custom_id'],
    ['a custom_id that no database holds', line({ custom_id: '\0' }), 'invalid_custom_id', 'custom_id'],
    ['no method', line({ method: undefined }), 'missing_required_parameter', 'method'],
    ['another method', line({ method: 'GET' }), 'invalid_method', 'method'],
    ['no url', line({ url: null }), 'missing_required_parameter', 'url'],
    ['another url', line({ url: '/v1/embeddings' }), 'mismatched_endpoint', 'url'],
    ['no body', line({ body: undefined }), 'missing_required_parameter', 'body'],
    ['a body that is a text', line({ body: '{}' }), 'invalid_body', 'body'],
    ['a stream', line({ body: { model: 'm', stream: true } }), 'stream_not_supported', 'body.stream'],
    ['something like a stream', line({ body: { model: 'm', stream: 'true' } }), 'stream_not_supported', 'body.stream'],
    [
      'managed tools',
      line({ body: { model: 'm', tools: [{ type: 'mcp' }] } }),
      'managed_tools_not_supported',
      'body.tools',
    ],
    ['a prompt that is none', prompted({ prompt_ref: 'none' }), 'prompt_not_found', 'body.metadata.prompt_ref'],
    ['a version that is none', prompted({ prompt_ref: 'greeting@3' }), 'prompt_not_found', 'body.metadata.prompt_ref'],
    ['a label that is none', prompted({ prompt_ref: 'greeting:x' }), 'prompt_not_found', 'body.metadata.prompt_ref'],
    ['a number as prompt', prompted({ prompt_ref: 1 }), 'invalid_prompt_variables', 'body.metadata.prompt_ref'],
    [
      'a variable that is missing',
      prompted({ prompt_ref: 'greeting', prompt_variables: {} }),
      'invalid_prompt_variables',
      'body.metadata.prompt_variables.name',
    ],
    [
      'a variable of another type',
      prompted({ prompt_ref: 'greeting:production', prompt_variables: { name: 1 } }),
      'invalid_prompt_variables',
      'body.metadata.prompt_variables.name',
    ],
    [
      'variables without a prompt',
      prompted({ prompt_variables: { name: 'Eve' } }),
      'invalid_prompt_variables',
      'body.metadata.prompt_variables',
    ],
    [
      'a prompt of its group that is none',
      line({ body: { model: 'ruled', messages: [] } }),
      'prompt_not_found',
      'body.metadata.prompt_ref',
    ],
    ['no model', line({ body: {} }), 'missing_required_parameter', 'body.model'],
    ['a number as model', line({ body: { model: 1 } }), 'invalid_model', 'body.model'],
    ['a model that is none', line({ body: { model: 'none' } }), 'model_not_found', 'body.model'],
    ['a model that the key may not call', line({ body: { model: 'forbidden' } }), 'model_not_found', 'body.model'],
  ])('refuses a line with %s', async (_case, bad, code, param) => {
    const bytes = typeof bad === 'string' ? new TextEncoder().encode(bad) : bad
    const good = new TextEncoder().encode(`${line({ custom_id: 'first' })}\n\n`)
    const batch = await validated(new Uint8Array([...good, ...bytes]))
    expect(batch).toMatchObject({ status: 'failed', requests: 0, in_progress_at: null })
    expect(batch.failed_at).not.toBeNull()
    expect(told.at(-1)).toMatchObject({
      type: 'batch.finished',
      batchId: batch.batch_id,
      status: 'failed',
      requests: 0,
    })
    expect(batch.errors).toEqual([{ code, message: expect.any(String), param, line: 3 }])
  })

  it('takes what is no stream, an alias, and a custom_id of 512 characters', async () => {
    const input = [
      line({ custom_id: 'ä'.repeat(512) }),
      line({ custom_id: 'b', body: { model: 'alias', stream: false } }),
      line({ custom_id: 'c', body: { model: 'm', stream: null, tools: [{ type: 'function' }] } }),
    ]
    expect((await validated(input.join('\n'))).status).toBe('in_progress')
  })

  it('takes prompts as calls do; what depends on a version that is not at hand is left to the run', async () => {
    const input = [
      prompted({ prompt_ref: 'greeting', prompt_variables: { name: 'Eve' } }, { custom_id: 'a' }),
      prompted({ prompt_ref: 'greeting@1' }, { custom_id: 'b' }),
      prompted({ prompt_ref: null, prompt_variables: null }, { custom_id: 'c' }),
      line({
        custom_id: 'd',
        body: { model: 'ruled', messages: [], metadata: { prompt_ref: 'greeting@2', prompt_variables: { name: 'x' } } },
      }),
    ]
    const { status, errors } = await validated(input.join('\n'))
    expect([status, errors]).toEqual(['in_progress', null])
  })

  it('names custom_ids that occur twice, wherever they are', async () => {
    const { errors } = await validated([line(), lines(200), line()].join('\n'))
    expect(errors).toEqual([
      { code: 'duplicate_custom_id', message: expect.stringContaining(`'a'`), param: 'custom_id', line: 202 },
    ])
  })

  it('names the first hundred mistakes', async () => {
    const { errors } = await validated(Array.from({ length: 150 }, () => 'x').join('\n'))
    expect(errors).toHaveLength(100)
    expect(errors?.at(-1)).toMatchObject({ line: 100 })
  })

  it('refuses a file with too many requests, or none', async () => {
    expect((await validated(lines(300))).status).toBe('in_progress')
    expect((await validated(`${lines(301)}\nx`)).errors).toEqual([
      { code: 'too_many_lines', message: expect.stringContaining('300'), param: null, line: 301 },
    ])
    expect((await validated('\n \n')).errors).toMatchObject([{ code: 'empty_file', line: null }])
  })

  it('fails without a key, and without its file', async () => {
    const revoked = async () => {
      throw refusal('invalid_api_key', 'The API key is not valid.')
    }
    expect((await validated(lines(1), { callers: { currentOrderer: revoked } })).errors).toEqual([
      { code: 'invalid_api_key', message: 'The API key is not valid.', param: null, line: null },
    ])
    const blobs = { ...place.blobs, get: async () => undefined }
    expect((await validated(lines(1), { blobs })).errors).toMatchObject([{ code: 'file_not_found' }])
    const id = await place.plant(lines(1))
    const { input_file_id } = await place.batch(id)
    await rowsOf(
      place.sql,
      queries.updateTable('gateway_file').set({ expires_at: sql`now()` }).where('file_id', '=', input_file_id),
    )
    await validation(services).step(going)
    expect((await place.batch(id)).errors).toMatchObject([{ code: 'file_not_found', param: 'input_file_id' }])
  })

  it('is done again after a pause where the store of blobs fails, by another process where one was killed', async () => {
    const id = await place.plant(lines(3))
    const broken = { ...place.blobs, get: () => Promise.reject(new Error('the disk is away')) }
    expect(await validation({ ...services, blobs: broken }).step(going)).toBe(true)
    expect((await place.batch(id)).status).toBe('validating')
    expect(await validation(services).step(going)).toBe(false)
    await place.change(id, { lease_until: sql`now()` })
    // A process that was killed: its lease stays until it ends.
    const killed = await services.records.lease('killed')
    expect(killed?.batch_id).toBe(id)
    expect(await validation(services).step(going)).toBe(false)
    await place.change(id, { lease_until: sql`now()` })
    expect(await validation(services).step(going)).toBe(true)
    expect((await place.batch(id)).status).toBe('in_progress')
    const lost = { batchId: id, token: 'killed' }
    expect(await services.records.pass(lost, { requests: 9, checkpoints: [] })).toBe(false)
    expect(await services.records.fail(lost, [])).toBeUndefined()
    expect(await services.records.renew(lost)).toBe(false)
    expect((await place.batch(id)).requests).toBe(3)
  })

  it('stops at once when the process does, and leaves the batch to others', async () => {
    const id = await place.plant(lines(3))
    expect(await validation(services).step(AbortSignal.abort())).toBe(true)
    expect((await place.batch(id)).status).toBe('validating')
    expect(await validation(services).step(going)).toBe(true)
    expect((await place.batch(id)).status).toBe('in_progress')
  })

  it('changes nothing of a batch that was cancelled meanwhile', async () => {
    const id = await place.plant(lines(3))
    const cancelling = {
      ...place.blobs,
      async get(key: string) {
        await place.change(id, { status: 'cancelling', outcome: 'cancelled', lease_token: null, lease_until: null })
        return place.blobs.get(key)
      },
    }
    await validation({ ...services, blobs: cancelling }).step(going)
    expect(await place.batch(id)).toMatchObject({ status: 'cancelling', requests: 0 })
  })
})

describe('the ids of a file', () => {
  it('are asked for only of lines that have one', () => {
    const rules = {
      endpoint: '/v1/x',
      longestLine: 10,
      isNew: () => expect.unreachable(),
      promptMistake: () => undefined,
      mayCall: () => true,
    }
    const none = { line: 1, offset: 0, length: 2, bytes: new TextEncoder().encode('{}') }
    expect(checkLine(none, rules)?.code).toBe('missing_required_parameter')
  })
})
