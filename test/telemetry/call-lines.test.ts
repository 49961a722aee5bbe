import { describe, expect, it } from 'vitest'
import { byteText } from '../../src/lib/bytes/byte-text.ts'
import { jsonLog } from '../../src/lib/log.ts'
import { type Usage, usageOf } from '../../src/modes/usage.ts'
import { addUsage } from '../../src/pipeline/settle/add-usage.ts'
import { callLines } from '../../src/telemetry/call-lines.ts'
import type { AttemptFinished, CallFinished } from '../../src/telemetry/events.ts'
import { finishedCall } from '../support/finished-calls.ts'
import { seededRandom } from '../support/random.ts'

/** The line of a call as JSON.stringify makes it of the event. */
function stringified({ type: event, at: time, charges, trace, heldNano, tools, ...call }: CallFinished): string {
  const { requestId, callId, batchId, prompt, repeats, ...rest } = call
  const made = { batchId: batchId || undefined, prompt: prompt || undefined, repeats: repeats || undefined }
  const { endpoint, mode, requestedModel, model, deployment, provider, ...more } = rest
  const { keyId, teamId, organizationId, userId, tags, streamed, ending, status, errorType, usage, ...measured } = more
  const { costNano, savedNano, cache, attempts, tried, rescuedFrom, ...times } = measured
  const { malformedEvents, overheadMs, firstTokenMs, upstreamMs, totalMs } = times
  return JSON.stringify({
    ...{ time, level: 'info', event, pid: 7, requestId, callId, ...made },
    ...{ endpoint, mode, requestedModel, model, deployment, provider, keyId, teamId, organizationId, userId },
    ...{ tags, streamed, ending, status, errorType, usage, costNano, savedNano, cache, attempts, tried },
    ...{ tools: tools.length > 0 ? tools : undefined, rescuedFrom },
    ...{ malformedEvents, overheadMs, firstTokenMs, upstreamMs, totalMs },
  })
}

/** The lines of calls in a log of bytes. */
function printed(calls: readonly CallFinished[]): string[] {
  const text = byteText(1024)
  const always = { pid: 7 }
  const log = jsonLog('info', () => {}, Date.now, always, { begin: () => text, end: () => text.addText('\n') })
  const write = callLines(log)
  for (const call of calls) write(call)
  return new TextDecoder().decode(text.take()).split('\n').slice(0, -1)
}

const random = seededRandom(17).next
const any = <Value>(...values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value
/** Mostly the first. */
const seldom = <Value>(usual: Value, ...others: readonly Value[]) => (random() < 0.9 ? usual : any(...others))
const text = (usual: string) =>
  seldom(usual, '', 'a "quoted" one', 'Köln', '日本 👋', 'lone \ud800', 'tab\t', 'back\\slash')
const ms = () => any(0, 1, 17, Math.round(random() * 1e7) / 1000, random(), 1e7, 3_000_000.5)
const tokens = () => any(0, 1, 38, 120, 131_072, Math.floor(random() * 1e9))

function anyUsage(): Usage | undefined {
  const plain = usageOf({ inputTokens: tokens(), outputTokens: tokens() })
  const usual = { ...plain, cachedInputTokens: tokens(), reasoningTokens: tokens() }
  const priced = {
    ...usual,
    terms: seldom(undefined, { service_tier: 'flex' }),
    toolUses: seldom(undefined, { search: 2 }),
  }
  const audio = { ...plain, audioSeconds: ms(), audioInputTokens: tokens(), images: tokens(), imageSize: text('hd') }
  const written = { ...plain, cacheCreationInputTokens: tokens(), rerankUnits: tokens(), characters: tokens() }
  const retried = any(addUsage(priced, audio), addUsage(plain, usual))
  return any(plain, usual, priced, audio, written, retried, { ...plain, estimated: true }, undefined)
}

function anyAttempt(usage: Usage | undefined, where: Pick<CallFinished, 'deployment' | 'provider'>): AttemptFinished {
  return {
    ...{ deployment: seldom(where.deployment, 'other'), provider: seldom(where.provider, 'other'), group: text('big') },
    result: seldom('answered', 'failed', 'cut', 'lost_hedge', 'client_closed'),
    error: seldom('', 'timeout'),
    message: seldom(undefined, 'It took too long.'),
    upstreamStatus: seldom(200, undefined, 429, 0),
    upstreamMessage: seldom(undefined, 'slow "down"'),
    turn: seldom(1, 2),
    usage: seldom(usage, undefined, usageOf({ inputTokens: 1 })),
    costNano: seldom(51_800, undefined, 2 ** 40, 0.5),
    ...{ startedMs: ms(), firstTokenMs: any(ms(), undefined), totalMs: ms() },
  }
}

function anyCall(): CallFinished {
  const usage = anyUsage()
  const where = { deployment: any('big-1', 'big-2', 'a "third"'), provider: text('openai') }
  const tried = Array.from({ length: seldom(1, 0, 2, 3) }, () => anyAttempt(usage, where))
  return finishedCall({
    ...where,
    ...{ requestId: text(`req_${random()}`), callId: text('call_1'), at: any('2026-03-04T05:06:07.089Z', '') },
    ...{ batchId: seldom('', 'batch_1'), prompt: seldom('', 'greeting@2'), repeats: seldom(false, true) },
    ...{ endpoint: text('/v1/chat/completions'), mode: any('chat', 'embedding'), requestedModel: text('big') },
    ...{ model: text('big'), keyId: any('key-1', 'key-2'), teamId: text('team'), organizationId: text('org') },
    ...{ userId: text('user'), tags: seldom([], ['a'], ['a "b"', 'ß']), streamed: any(true, false) },
    ending: seldom('answered', 'failed', 'truncated', 'client_closed'),
    ...{ status: seldom(200, 502, 499), errorType: seldom('', 'api_error'), cache: any('off', 'miss', 'hit') },
    ...{ usage, costNano: seldom(51_800, undefined, 2 ** 40, 0), savedNano: seldom(0, 1500), attempts: tried.length },
    ...{ tried, heldNano: any(undefined, 1), charges: [{ subject: 'key:1', period: '' }] },
    tools: seldom([], [{ server: 'docs', tool: 'search', result: 'ok', ms: 4 }]),
    ...{ rescuedFrom: seldom([], ['big-3']), malformedEvents: seldom(0, 3) },
    ...{ overheadMs: ms(), firstTokenMs: any(ms(), undefined), upstreamMs: any(ms(), undefined), totalMs: ms() },
    trace: seldom(undefined, { traceId: 't', sessionId: undefined, user: undefined }),
  })
}

describe('the log line of a call', () => {
  it('is the same, byte for byte, whether it is printed by hand or by JSON.stringify', () => {
    const calls = Array.from({ length: 20_000 }, anyCall)
    const lines = printed(calls)
    expect(lines).toHaveLength(calls.length)
    const wrong = calls.find((call, index) => lines[index] !== stringified(call))
    if (wrong) expect(printed([wrong])[0]).toBe(stringified(wrong))
    expect(wrong).toBeUndefined()
  })

  it('is a text where lines are none of bytes', () => {
    const lines: string[] = []
    const write = callLines(
      jsonLog(
        'info',
        (line) => lines.push(line),
        () => 0,
        { pid: 7 },
      ),
    )
    const call = anyCall()
    write(call)
    expect(lines).toEqual([stringified(call)])
  })

  it('is left out by the level', () => {
    const text = byteText(1024)
    const log = jsonLog('warn', () => text.addText('x'), Date.now, {}, { begin: () => text, end() {} })
    callLines(log)(anyCall())
    expect(text.length).toBe(0)
  })
})
