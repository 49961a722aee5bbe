import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openapi } from '../../../src/api/docs/openapi.ts'
import { WEBHOOK_EVENTS } from '../../../src/config/sections/callback-settings.ts'
import { jsonLog } from '../../../src/lib/log.ts'
import { secret } from '../../../src/lib/secret.ts'
import { budgetRecords } from '../../../src/stores/sql/records/budget-records.ts'
import { bufferedLane } from '../../../src/telemetry/sinks/lanes/buffered-lane.ts'
import { sinksOf } from '../../../src/telemetry/sinks/sinks.ts'
import { testEvent } from '../../../src/telemetry/sinks/test-event.ts'
import { webhook } from '../../../src/telemetry/sinks/webhook.ts'
import { webhookPayloads } from '../../../src/telemetry/sinks/webhook-payloads.ts'
import { undiciTransport } from '../../../src/transport/undici.node.ts'
import { keyHolder } from '../../support/batches.ts'
import { configuration, deployment } from '../../support/configuration.ts'
import { finishedCall } from '../../support/finished-calls.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { type SinkReceiver, startSinkReceiver } from '../../support/sink-receiver.node.ts'
import { answer, serverError } from '../../support/upstream/index.ts'
import { withFullGateway } from '../../support/with-gateway.ts'

const SECRET = 'whsec_YSB3ZWJob29rIGtleSBvZiB0aGlydHktdHdvIGJ5dGU='

let upstream: Upstream
let receiver: SinkReceiver
beforeAll(async () => {
  upstream ??= await startUpstream()
  receiver ??= await startSinkReceiver()
})
afterAll(() => Promise.all([upstream?.close(), receiver?.close()]))

interface Told {
  readonly type: (typeof WEBHOOK_EVENTS)[number]
  readonly timestamp: string
  readonly data: Record<string, unknown>
}

/** The event with exactly the fields that are documented. */
function asDocumented(body: Buffer): Told {
  const told = JSON.parse(body.toString()) as Told
  expect(webhookPayloads()[told.type].data.strict().parse(told.data)).toEqual(told.data)
  return told
}

describe('a webhook of a gateway', () => {
  const gateway = withFullGateway(async () => {
    upstream ??= await startUpstream()
    receiver ??= await startSinkReceiver()
    return configuration({
      general_settings: { embeddings_batch_enabled: true },
      router_settings: { num_retries: 0, cooldown_time: 30 },
      gateway_settings: {
        success_callback: ['webhook'],
        callback_settings: { webhook: { url: receiver.url, secret: SECRET } },
      },
      model_list: [
        deployment(upstream.url, 'good', 'notices-good', { input_cost_per_token: 0, output_cost_per_token: 0.001 }),
        deployment(upstream.url, 'bad', 'notices-bad'),
      ],
    })
  })
  const of = async (type: Told['type'], count = 1) => {
    const all = await receiver.until(count, ({ body }) => JSON.parse(body.toString()).type === type)
    return all.map(({ body }) => asDocumented(body))
  }
  const messages = [{ role: 'user', content: 'Hello' }]

  it('is told of budgets, once each', async () => {
    const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }
    upstream.script('notices-good', [answer({ usage })])
    const holder = await keyHolder(gateway, { max_budget: 0.02, soft_budget: 0.01 } as object)
    const statuses: number[] = []
    for (let call = 0; call < 5; call++) {
      const body = { model: 'good', messages, max_tokens: 10 }
      statuses.push((await holder.ask('POST', '/v1/chat/completions', body)).status)
      await gateway.idle()
    }
    expect(statuses).toEqual([200, 200, 429, 429, 429])
    const facts = { level: 'key', id: holder.key_id, model: null, scope: 'key_budget', period: null }
    const [soft, ...moreSoft] = await of('budget.soft_limit')
    const [hard, ...moreHard] = await of('budget.exceeded')
    expect(soft?.data).toMatchObject({ ...facts, spent_nano: 10_000_000, soft_nano: 10_000_000 })
    expect(hard?.data).toMatchObject({ ...facts, spent_nano: 20_000_000, limit_nano: 20_000_000 })
    expect([...moreSoft, ...moreHard]).toEqual([])
    // What a process asks that has begun since then.
    const { tell } = budgetRecords(gateway.sql)
    const budget = { subject: `key:${holder.key_id}`, period: '' }
    expect(await tell(budget, 'soft', 10_000_000)).toBe(false)
    expect(await tell(budget, 'exceeded', 20_000_000)).toBe(false)
    const asked = await Promise.all([tell(budget, 'soft', 9_000_000), tell(budget, 'soft', 9_000_000)])
    expect(asked.sort()).toEqual([false, true])
    expect((await of('call.finished', 2)).map(({ data }) => data.ending)).toEqual(['answered', 'answered'])
  })

  it('is told of a deployment that is cooled, and for how long', async () => {
    upstream.script('notices-bad', [serverError()])
    for (let call = 0; call < 3; call++)
      expect((await gateway.chat({ model: 'bad', messages })).status).toBeGreaterThan(499)
    const [cooled, ...more] = await of('deployment.cooled')
    expect(cooled?.data).toMatchObject({
      deployment: 'notices-bad',
      model: 'bad',
      error: 'provider_error',
      failures: 1,
    })
    const seconds = (Date.parse(String(cooled?.data.until)) - Date.parse(cooled?.timestamp ?? '')) / 1000
    expect(Math.round(seconds)).toBeGreaterThan(27)
    expect(more).toEqual([])
  })

  it('is told of a batch that has ended', async () => {
    const { key, key_id } = await keyHolder(gateway)
    const authorization = { authorization: `Bearer ${key}` }
    const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: { model: 'good', messages } }
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('file', new File([`${JSON.stringify(line)}\n`], 'in.jsonl'))
    const file = await (await gateway.fetch('/v1/files', { method: 'POST', headers: authorization, body: form })).json()
    const made = await gateway.fetch('/v1/batches', {
      method: 'POST',
      headers: { ...authorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        input_file_id: (file as { id: string }).id,
        endpoint: line.url,
        completion_window: '24h',
      }),
    })
    const { id } = (await made.json()) as { id: string }
    const [finished, ...more] = await of('batch.finished')
    expect(finished?.data).toMatchObject({ batch_id: id, key_id, status: 'completed', requests: 1, completed: 1 })
    expect(more).toEqual([])
  })

  it('can be tested for calls and for notices', async () => {
    for (const name of ['webhook', 'webhook.notices']) {
      const response = await gateway.fetch(`/ui/api/callbacks/${name}/test`, { method: 'POST' })
      expect(await response.json()).toMatchObject({ name, delivered: true })
      asDocumented((receiver.received.at(-1) as { body: Buffer }).body)
    }
  })
})

describe('the payloads of a webhook', () => {
  const transport = undiciTransport()
  afterAll(() => transport.close())
  const sinksTo = (url: string, events: readonly (typeof WEBHOOK_EVENTS)[number][]) =>
    webhook({ url, secret: secret(SECRET), events, headers: {} }, transport)

  it.each(WEBHOOK_EVENTS)('of %s are as documented, and alone where nothing else is chosen', async (event) => {
    const [sink, ...others] = sinksTo(receiver.url, [event])
    expect([sink?.name, others]).toEqual(['webhook', []])
    if (!sink) return
    const before = receiver.received.length
    // It may have been JSON meanwhile.
    const tested = JSON.parse(JSON.stringify(testEvent(sink.takes, Date.now())))
    await sink.deliver([{ id: 'one', event: tested }], new AbortController().signal)
    const told = asDocumented((receiver.received[before] as { body: Buffer }).body)
    expect(told.type).toBe(event)
    const { webhooks } = openapi([]) as { webhooks: Record<string, { post: { requestBody: object } }> }
    expect(JSON.stringify(webhooks[event]?.post.requestBody)).toContain(`"const":"${event}"`)
  })

  it('of notices wait in a place of their own: a flood of calls at a dead far end displaces none', async () => {
    const sinks = sinksOf(sinksTo('http://127.0.0.1:1', [...WEBHOOK_EVENTS]), {
      laneOf: (sink, counts) => bufferedLane(sink, counts, { capacity: { entries: 50, bytes: 1_000_000 } }),
      log: jsonLog('silent', () => {}),
      report: () => {},
    })
    for (let call = 0; call < 500; call++) sinks.take(finishedCall({ callId: `call-${call}` }))
    sinks.take(testEvent(new Set(['budget.exceeded']), Date.now()))
    expect(sinks.states().map(({ name, queued, dropped }) => [name, queued, dropped])).toEqual([
      ['webhook', 50, 450],
      ['webhook.notices', 1, 0],
    ])
    expect(await sinks.drain(200)).toBe(51)
  })
})
