import { afterAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/config/config-error.ts'
import { newAbort } from '../../../src/lib/abort.ts'
import { jsonLog } from '../../../src/lib/log.ts'
import { secret } from '../../../src/lib/secret.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import { missingS3Key } from '../../../src/telemetry/sinks/configured-s3.ts'
import { configuredSinks } from '../../../src/telemetry/sinks/index.ts'
import { s3 } from '../../../src/telemetry/sinks/s3.ts'
import { signedObjects } from '../../../src/telemetry/sinks/s3-objects.ts'
import { type SinkEntry, SinkFailure } from '../../../src/telemetry/sinks/sink.ts'
import { undiciTransport } from '../../../src/transport/undici.node.ts'
import { finishedCall } from '../../support/finished-calls.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { ACCOUNT, startLogStorage } from '../../support/log-storage.node.ts'
import { withGateway } from '../../support/with-gateway.ts'

const { endpoint, storage, stored, rowsOf, close } = await startLogStorage()
afterAll(close)

const entry = (id: string, at: string, content?: SinkEntry['content']): SinkEntry => ({
  id,
  event: finishedCall({ callId: id, at, tags: ['x', 'y'], costNano: 1_500_000 }),
  content,
})

function sink(changes: { prefix?: string; compression?: 'none' | 'gzip' | 'zstd'; secretAccessKey?: string } = {}) {
  const { prefix = 'calls/of us/', compression = 'gzip', secretAccessKey = ACCOUNT.secretAccessKey } = changes
  const account = { ...ACCOUNT, secretAccessKey: secret(secretAccessKey), sessionToken: secret(ACCOUNT.sessionToken) }
  return s3(
    { bucket: 'logs', prefix, compression },
    signedObjects({ endpoint, bucket: 'logs', ...account }, undiciTransport()),
  )
}

describe('the sink s3', () => {
  it('writes an object for each hour, signed, of rows that all have the same columns', async () => {
    const entries = [
      entry('call_a', '2026-03-04T05:59:59.999Z', { request: '{"messages":[]}', answer: '{"ok":true}' }),
      entry('call_b', '2026-03-04T06:00:00.000Z'),
      entry('call_c', '2026-03-04T05:00:00.000Z'),
    ]
    const { answer, again } = await sink().deliver(entries, newAbort())
    expect([answer, again]).toEqual(['it answered 200', []])
    const keys = stored('calls/of us/').toSorted()
    expect(keys).toEqual([
      expect.stringMatching(/^calls\/of us\/date=2026-03-04\/hour=05\/20260304T055959999Z-[0-9a-f]{16}\.jsonl\.gz$/),
      expect.stringMatching(/^calls\/of us\/date=2026-03-04\/hour=06\/20260304T060000000Z-[0-9a-f]{16}\.jsonl\.gz$/),
    ])
    const rows = [...(await rowsOf(keys[0] as string)), ...(await rowsOf(keys[1] as string))]
    expect(rows.map(({ call_id }) => call_id)).toEqual(['call_a', 'call_c', 'call_b'])
    expect(rows[0]).toMatchObject({
      schema_version: 1,
      at: '2026-03-04T05:59:59.999Z',
      model: 'big',
      user_id: null,
      tags: ['x', 'y'],
      cost_nano: 1_500_000,
      request: '{"messages":[]}',
      answer: '{"ok":true}',
    })
    expect(rows[1]).toMatchObject({ request: null, answer: null })
    const columns = rows.map((row) => Object.keys(row).join())
    expect(new Set(columns).size).toBe(1)
    // One level: no column is a map.
    for (const value of Object.values(rows[0]))
      expect(value === null || typeof value !== 'object' || Array.isArray(value)).toBe(true)
  })

  it('puts what is sent again in the place of what was sent', async () => {
    const entries = [entry('call_d', '2026-03-05T01:00:00.000Z'), entry('call_e', '2026-03-05T01:00:01.000Z')]
    await sink({ prefix: 'twice' }).deliver(entries, newAbort())
    await sink({ prefix: 'twice' }).deliver(entries, newAbort())
    expect(stored('twice/')).toHaveLength(1)
    await sink({ prefix: 'twice' }).deliver(entries.slice(1), newAbort())
    expect(stored('twice/')).toHaveLength(2)
  })

  it.each([
    ['none', '.jsonl', '06'],
    ['gzip', '.jsonl.gz', '07'],
    ['zstd', '.jsonl.zst', '08'],
  ] as const)('writes many lines, packed as wanted: %s', async (compression, ending, day) => {
    const entries = Array.from({ length: 1001 }, (_, index) => entry(`call_${index}`, `2026-03-${day}T01:00:00.000Z`))
    await sink({ prefix: '', compression }).deliver(entries, newAbort())
    const [key] = stored(`date=2026-03-${day}/hour=01/`) as [string]
    expect(key.replace(/^.*-[0-9a-f]{16}/, '')).toBe(ending)
    expect((await rowsOf(key)).map(({ call_id }) => call_id)).toEqual(entries.map(({ id }) => id))
  })

  it('sends again what the storage did not take, and nothing else', async () => {
    const entries = [entry('call_f', '2026-03-07T01:00:00.000Z'), entry('call_g', '2026-03-07T02:00:00.000Z')]
    storage.failNext('PUT object', { status: 503, code: 'SlowDown' })
    const { answer, again } = await sink({ prefix: 'half' }).deliver(entries, newAbort())
    expect([answer, again?.map(({ id }) => id)]).toEqual(['it answered 503', ['call_f']])
    expect(stored('half/')).toHaveLength(1)
  })

  it.each([
    ['a wrong secret', { secretAccessKey: 'wrong' }, undefined],
    ['an answer of 400, which is never about rows', {}, { status: 400, code: 'ExpiredToken' }],
  ])('waits with %s, since it may be mended', async (_, changes, failure) => {
    if (failure) storage.failNext('PUT object', failure)
    const work = sink({ prefix: 'never', ...changes }).deliver(
      [entry('call_h', '2026-03-08T01:00:00.000Z')],
      newAbort(),
    )
    const error = await work.catch((reason) => reason)
    expect(error).toBeInstanceOf(SinkFailure)
    expect(error.kind).toBe('away')
    expect(error.message).not.toContain('AKIATEST')
    expect(stored('never/')).toEqual([])
  })

  it('is a mistake of the configuration without keys, where the runtime has no bucket', () => {
    const config = loadConfig(
      'gateway_settings: { success_callback: [s3], callback_settings: { s3: { bucket: logs } } }',
      {
        GATEWAY_MASTER_KEY: MASTER_KEY,
      },
    )
    const means = { transport: undiciTransport(), log: jsonLog('silent', () => {}), report: () => {} }
    expect(() => configuredSinks(config, means)).toThrow(ConfigError)
    expect(() => configuredSinks(config, means)).toThrow(
      'gateway_settings.callback_settings.s3: has no access_key_id and secret_access_key',
    )
    expect(missingS3Key(config)).toHaveLength(1)
    const written: string[] = []
    const boundBucket = async ({ key }: { key: string }) => {
      written.push(key)
      return 'it is stored'
    }
    expect(configuredSinks(config, { ...means, boundBucket }).byName.has('s3')).toBe(true)
  })
})

describe('the object storage of a gateway', () => {
  const gateway = withGateway(`
gateway_settings:
  success_callback: [s3]
  callback_settings:
    s3: { bucket: logs, region: ${ACCOUNT.region}, prefix: live, endpoint: '${endpoint}', access_key_id: ${ACCOUNT.accessKeyId}, secret_access_key: ${ACCOUNT.secretAccessKey}, session_token: ${ACCOUNT.sessionToken} }
model_list:
  - { model_name: echo, gateway_params: { model: echo/echo } }
`)

  it('gets a test event at once, and what waits when the process stops', async () => {
    const tested = await gateway.fetch('/ui/api/callbacks/s3/test', { method: 'POST' })
    expect(await tested.json()).toMatchObject({ name: 's3', delivered: true, answer: 'it answered 200' })
    expect(stored('live/')).toHaveLength(1)
    const asked = { model: 'echo', messages: [{ role: 'user', content: 'canary-content-78' }] }
    expect((await gateway.chat(asked)).status).toBe(200)
    const quiet = await gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-no-log': '1' },
      body: JSON.stringify({ ...asked, messages: [{ role: 'user', content: 'canary-content-79' }] }),
    })
    expect(quiet.status).toBe(200)
    await gateway.idle()
    expect(stored('live/')).toHaveLength(1)
    await gateway.close()
    const rows = (await Promise.all(stored('live/').map(rowsOf))).flat().filter(({ model }) => model === 'echo')
    expect(rows).toHaveLength(2)
    // A call is told of when its content is ready: one without content may come first.
    const [withContent, without] = rows.sort((a, b) => Number(a.request === null) - Number(b.request === null))
    expect(withContent.request).toContain('canary-content-78')
    expect(withContent.answer).toContain('canary-content-78')
    expect([without.request, without.answer]).toEqual([null, null])
  })
})
