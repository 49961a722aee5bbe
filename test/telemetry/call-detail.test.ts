import { describe, expect, it } from 'vitest'
import { usageOf } from '../../src/modes/usage.ts'
import { detailOf, isFailedOver } from '../../src/telemetry/call-detail.ts'
import type { AttemptFinished, CallFinished } from '../../src/telemetry/events.ts'
import { finishedCall } from '../support/finished-calls.ts'

const attempt = (changes: Partial<AttemptFinished> = {}): AttemptFinished => ({
  deployment: 'one',
  provider: 'openai',
  group: 'big',
  result: 'answered',
  error: '',
  message: undefined,
  upstreamStatus: 200,
  upstreamMessage: undefined,
  turn: 1,
  usage: undefined,
  costNano: undefined,
  startedMs: 0.5,
  firstTokenMs: 20,
  totalMs: 30,
  ...changes,
})
const call = (tried: readonly AttemptFinished[], changes: Partial<CallFinished> = {}) =>
  finishedCall({ tried, attempts: tried.length, ...changes })
const read = (of: CallFinished) => JSON.parse(detailOf(of) ?? 'null')

describe('the detail of a call', () => {
  it('is not stored where the row says everything', () => {
    expect(detailOf(call([attempt()]))).toBeNull()
    expect(detailOf(call([], { cache: 'hit' }))).toBeNull()
    expect(detailOf(call([], { ending: 'failed', status: 503 }))).toBeNull()
  })

  it('has the attempts of a call that needed more than one, or was not answered', () => {
    const failed = attempt({
      result: 'failed',
      error: 'provider_error',
      message: 'The provider failed with status 500.',
      upstreamStatus: 500,
      upstreamMessage: 'boom',
      firstTokenMs: undefined,
      costNano: 7,
    })
    const stored = {
      deployment: 'one',
      provider: 'openai',
      group: 'big',
      turn: 1,
      result: 'failed',
      error: 'provider_error',
      message: 'The provider failed with status 500.',
      upstream_status: 500,
      upstream_message: 'boom',
      started_ms: 0.5,
      total_ms: 30,
      cost_nano: 7,
    }
    expect(read(call([failed], { ending: 'failed' }))).toEqual({ attempts: [stored], tool_calls: [] })
    expect(read(call([failed, attempt({ deployment: 'two' })])).attempts).toMatchObject([
      stored,
      { deployment: 'two', result: 'answered', first_token_ms: 20 },
    ])
  })

  it('has what was held, and what a call was billed by where the facts do not say it', () => {
    expect(read(call([attempt()], { heldNano: 42 }))).toEqual({ attempts: [], tool_calls: [], held_nano: 42 })
    const usage = usageOf({ inputTokens: 10, outputTokens: 5, terms: { service_tier: 'priority' } })
    expect(read(call([attempt({ usage })], { usage })).attempts).toMatchObject([
      { usage: { inputTokens: 10, outputTokens: 5, terms: { service_tier: 'priority' } } },
    ])
    const plain = usageOf({ inputTokens: 7, cachedInputTokens: 2, estimated: true })
    const told = read(call([attempt({ result: 'failed' }), attempt({ usage: plain })], { usage: plain }))
    expect(told.attempts[0]).not.toHaveProperty('usage')
    expect(told.attempts[1].usage).toEqual({ inputTokens: 7, cachedInputTokens: 2, estimated: true })
  })

  it('has the calls of tools, and the trace that the client named', () => {
    const tools = [{ server: 'files', tool: 'read', result: 'ok', ms: 3, startedMs: 40 } as const]
    expect(read(call([attempt()], { tools }))).toEqual({
      attempts: [],
      tool_calls: [{ server: 'files', tool: 'read', result: 'ok', started_ms: 40, total_ms: 3 }],
    })
    const trace = { parent: undefined, traceId: 'trace-1', sessionId: undefined, user: undefined }
    expect(read(call([attempt()], { trace }))).toEqual({ attempts: [], tool_calls: [], trace_id: 'trace-1' })
  })

  it('keeps the first and the last of many, and short texts that a database can hold', () => {
    const many = Array.from({ length: 40 }, (_, index) => attempt({ deployment: `d${index}`, turn: index + 1 }))
    const tool = { server: `s\0${'x'.repeat(5000)}`, tool: '\ud800', result: 'failed', ms: 1 } as const
    const { attempts, ...rest } = read(call(many, { tools: Array.from({ length: 20 }, () => tool) }))
    expect(attempts.map(({ turn }: { turn: number }) => turn)).toEqual([
      ...[1, 2, 3, 4, 5, 6, 7, 8],
      ...[33, 34, 35, 36, 37, 38, 39, 40],
    ])
    expect(rest.tool_calls).toHaveLength(16)
    expect(rest.tool_calls_left_out).toBe(4)
    expect(rest.tool_calls[0].server).toHaveLength(319)
    expect(rest.tool_calls[0].tool).toBe('\ufffd')
    expect(JSON.stringify(rest)).not.toContain('\\u0000')
  })

  it('can be written of a call that an earlier build has told of', () => {
    const { group: _, message: __, upstreamStatus: ___, upstreamMessage: ____, ...earlier } = attempt()
    const { tools: _____, ...told } = call([earlier, earlier] as unknown as AttemptFinished[])
    expect(read(told as CallFinished).attempts).toMatchObject([{ group: '' }, { group: '' }])
  })
})

describe('a call failed over', () => {
  const failed = attempt({ result: 'failed' })
  it.each([
    ['an answer at once', [attempt()], false],
    ['a failure', [failed], false],
    ['a failure and an answer', [failed, attempt()], true],
    ['two failures', [failed, failed], true],
    ['a cut answer that was continued', [attempt({ result: 'cut' }), attempt()], true],
    ['a lost hedge', [attempt({ result: 'lost_hedge' }), attempt()], false],
    ['turns of a loop', [attempt(), attempt({ turn: 2 })], false],
    ['turns, the last of which failed', [attempt(), attempt({ turn: 2, result: 'failed' })], false],
    ['turns, one of which was retried', [attempt(), { ...failed, turn: 2 }, attempt({ turn: 2 })], true],
  ])('after %s: %#', (_, tried, expected) => {
    expect(isFailedOver(call(tried))).toBe(expected)
  })
})
