import type { components } from 'langfuse-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { secret } from '../../../src/lib/secret.ts'
import { usageOf } from '../../../src/modes/usage.ts'
import { langfuse } from '../../../src/telemetry/sinks/langfuse.ts'
import type { SinkEntry } from '../../../src/telemetry/sinks/sink.ts'
import { undiciTransport } from '../../../src/transport/undici.node.ts'
import { finishedCall } from '../../support/finished-calls.ts'
import { type Received, type SinkReceiver, startSinkReceiver } from '../../support/sink-receiver.node.ts'

/** What Langfuse takes of these two kinds of events, as far as it is sent. */
const time = z.iso.datetime()
const common = {
  name: z.exactOptional(z.string()),
  metadata: z.record(z.string(), z.unknown()),
  input: z.exactOptional(z.unknown()),
  output: z.exactOptional(z.unknown()),
}
const trace = z.strictObject({
  ...common,
  id: z.string(),
  timestamp: time,
  userId: z.exactOptional(z.string()),
  sessionId: z.exactOptional(z.string()),
  tags: z.exactOptional(z.array(z.string())),
})
const generation = z.strictObject({
  ...common,
  id: z.string(),
  traceId: z.string(),
  startTime: time,
  endTime: time,
  completionStartTime: z.exactOptional(time),
  model: z.string(),
  promptName: z.exactOptional(z.string()),
  promptVersion: z.exactOptional(z.int()),
  usageDetails: z.exactOptional(z.record(z.string(), z.int().min(0))),
  costDetails: z.exactOptional(z.record(z.string(), z.number())),
  level: z.enum(['DEBUG', 'DEFAULT', 'WARNING', 'ERROR']),
  statusMessage: z.exactOptional(z.string()),
})
const eventOf = <Type extends string, Body extends z.ZodType>(type: Type, body: Body) =>
  z.strictObject({ id: z.string().min(1), type: z.literal(type), timestamp: time, body })
const traceCreate = eventOf('trace-create', trace)
const generationCreate = eventOf('generation-create', generation)
const event = z.discriminatedUnion('type', [traceCreate, generationCreate])

/** Langfuse's own description of its API. */
type Published = components['schemas']
type PublishedEvent<Type extends string> = Extract<Published['IngestionEvent'], { type: Type }>
/** True where a schema above says nothing but what Langfuse says; judged by the compiler. */
type IsOf<Ours, Theirs> = Ours extends Theirs ? (Exclude<keyof Ours, keyof Theirs> extends never ? true : never) : never
const judged: readonly true[] = [
  true satisfies IsOf<z.output<typeof trace>, Published['TraceBody']>,
  true satisfies IsOf<z.output<typeof generation>, Published['CreateGenerationBody']>,
  true satisfies IsOf<z.output<typeof traceCreate>, PublishedEvent<'trace-create'>>,
  true satisfies IsOf<z.output<typeof generationCreate>, PublishedEvent<'generation-create'>>,
]
const batch = z.strictObject({ batch: z.array(event) })

let receiver: SinkReceiver
const transport = undiciTransport()
beforeAll(async () => {
  receiver = await startSinkReceiver()
})
afterAll(() => Promise.all([receiver.close(), transport.close()]))

const signal = new AbortController().signal
const deliver = (entries: readonly SinkEntry[]) =>
  langfuse({ host: `${receiver.url}/`, publicKey: 'pk-1', secretKey: secret('sk-1') }, transport).deliver(
    entries,
    signal,
  )
const answering = (status: number, body: object) => receiver.answer(() => ({ status, body: JSON.stringify(body) }))

describe('langfuse', () => {
  it('gets a trace and a generation of each call', async () => {
    answering(207, { successes: [{ id: '1-trace', status: 201 }], errors: [] })
    const call = finishedCall({
      callId: 'call_1',
      tags: ['red'],
      trace: { traceId: 'trace-7', sessionId: 'session-7', user: 'ann' },
      usage: usageOf({ inputTokens: 10, cachedInputTokens: 4, outputTokens: 6, reasoningTokens: 5 }),
      costNano: 1_500_000,
      prompt: 'support@home@3',
      totalMs: 89,
      firstTokenMs: 20,
    })
    const content = { request: '{"messages":[]}', answer: '{"choices":[]}' }
    const failed = finishedCall({ callId: 'call_2', errorType: 'api_error', usage: undefined, costNano: undefined })
    const entries = [
      { id: 'call_1', event: call, content },
      { id: 'call_2', event: failed },
    ]
    expect(await deliver(entries)).toMatchObject({ answer: 'it answered 207', again: [], refused: 0 })
    const [got] = receiver.received as readonly Received[]
    expect([got?.path, got?.headers.authorization]).toEqual([
      '/api/public/ingestion',
      `Basic ${Buffer.from('pk-1:sk-1').toString('base64')}`,
    ])
    const sent = batch.parse(JSON.parse(got?.body.toString() ?? '')).batch
    expect(sent.map(({ id, type, body }) => [id, type, body.id])).toEqual([
      ['call_1-trace', 'trace-create', 'trace-7'],
      ['call_1-generation', 'generation-create', 'call_1'],
      ['call_2-trace', 'trace-create', 'call_2'],
      ['call_2-generation', 'generation-create', 'call_2'],
    ])
    expect(sent[0]?.body).toMatchObject({
      userId: 'ann',
      sessionId: 'session-7',
      tags: ['red'],
      input: { messages: [] },
    })
    expect(sent[1]?.body).toMatchObject({
      traceId: 'trace-7',
      model: 'big',
      startTime: '2026-03-04T05:06:07.000Z',
      completionStartTime: '2026-03-04T05:06:07.020Z',
      endTime: '2026-03-04T05:06:07.089Z',
      usageDetails: { input: 6, input_cached_tokens: 4, output: 1, output_reasoning_tokens: 5, total: 16 },
      costDetails: { total: 0.0015 },
      promptName: 'support@home',
      promptVersion: 3,
      output: { choices: [] },
    })
    expect(sent[3]?.body).toMatchObject({ level: 'ERROR', statusMessage: 'api_error' })
    expect(sent[3]?.body).not.toHaveProperty('costDetails')
    expect(sent[3]?.body).not.toHaveProperty('promptName')
    expect(judged).toHaveLength(4)
  })

  it('gets again what it failed at, and no more what it refused', async () => {
    answering(207, {
      successes: [],
      errors: [
        { id: 'a-trace', status: 400, message: 'canary', error: 'canary' },
        { id: 'a-generation', status: 400 },
        { id: 'b-generation', status: 500 },
      ],
    })
    const entries = ['a', 'b', 'c'].map((id) => ({ id, event: finishedCall({ callId: id }) }))
    expect(await deliver(entries)).toEqual({
      answer: 'it answered 207, with errors',
      again: [entries[1]],
      refused: 1,
    })
  })
})
