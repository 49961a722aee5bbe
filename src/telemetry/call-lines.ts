import { type ByteText, encoded } from '../lib/bytes/byte-text.ts'
import type { Log, LogFields } from '../lib/log.ts'
import type { Usage } from '../modes/usage.ts'
import type { AttemptFinished, CallFinished } from './events.ts'
import { type Outline, ofLikeCalls } from './like-calls.ts'

/** Writes the log line of a finished call: the event without its type and time, which the line has, and without what the
 *  ledger alone has. */
export function callLines(log: Log): (call: CallFinished) => void {
  const lines = log.printed?.('info', 'call.finished')
  if (!lines) return (call) => log.info(call.type, fieldsOf(call), call.at)
  const fixed = ofLikeCalls(fixedOf)
  return (call) => {
    const line = lines.begin(call.at)
    if (!line) return
    if (isUsual(call)) addUsual(line, call, fixed(call))
    else line.addText(membersOf(fieldsOf(call)))
    lines.end()
  }
}

/** Fields as further members of an object. */
const membersOf = (fields: LogFields) => `,${JSON.stringify(fields).slice(1, -1)}`

/** Lists every field: removing a few from a copy of such a large object costs more than printing it. */
function fieldsOf(call: CallFinished): LogFields {
  return {
    requestId: call.requestId,
    callId: call.callId,
    // Left out of the line of a call that no batch makes.
    batchId: call.batchId || undefined,
    // Left out of one without a template.
    prompt: call.prompt || undefined,
    repeats: call.repeats || undefined,
    endpoint: call.endpoint,
    mode: call.mode,
    requestedModel: call.requestedModel,
    model: call.model,
    deployment: call.deployment,
    provider: call.provider,
    keyId: call.keyId,
    teamId: call.teamId,
    organizationId: call.organizationId,
    userId: call.userId,
    tags: call.tags,
    streamed: call.streamed,
    ending: call.ending,
    status: call.status,
    errorType: call.errorType,
    usage: call.usage,
    costNano: call.costNano,
    savedNano: call.savedNano,
    cache: call.cache,
    attempts: call.attempts,
    tried: call.tried,
    // Left out of the line of a call without managed tools.
    tools: call.tools.length > 0 ? call.tools : undefined,
    rescuedFrom: call.rescuedFrom,
    malformedEvents: call.malformedEvents,
    overheadMs: call.overheadMs,
    firstTokenMs: call.firstTokenMs,
    upstreamMs: call.upstreamMs,
    totalMs: call.totalMs,
  }
}

/** An answered call with nothing to tell but its measures. */
type UsualCall = CallFinished & { readonly usage: Usage }

/** Whether a call was answered from the cache or by its only attempt, without anything else to tell: nearly every one. */
function isUsual(call: CallFinished): call is UsualCall {
  const { tried, usage } = call
  return (
    call.ending === 'answered' &&
    call.errorType === '' &&
    usage !== undefined &&
    call.attempts === tried.length &&
    (tried.length === 0 || (tried.length === 1 && isAnswer(tried[0] as AttemptFinished, call))) &&
    call.batchId === '' &&
    call.prompt === '' &&
    !call.repeats &&
    call.tools.length === 0 &&
    call.rescuedFrom.length === 0
  )
}

function isAnswer(one: AttemptFinished, call: CallFinished): boolean {
  return (
    one.usage === call.usage &&
    one.deployment === call.deployment &&
    one.provider === call.provider &&
    one.group === call.model &&
    one.result === 'answered' &&
    one.error === '' &&
    one.message === undefined &&
    one.upstreamMessage === undefined
  )
}

/** The parts of the line that usual calls have in common if they are alike. */
interface Fixed {
  readonly identity: Uint8Array
  readonly outcome: Uint8Array
  readonly attempt: Uint8Array
}

function fixedOf({ status, errorType, streamed, cache, ...identity }: Outline): Fixed {
  const { deployment, provider, model: group } = identity
  const attempt = { deployment, provider, group, result: 'answered', error: '' }
  return {
    identity: encoded(membersOf(identity)),
    outcome: encoded(membersOf({ streamed, ending: 'answered', status, errorType })),
    attempt: encoded(`${membersOf({ cache, attempts: 1 })},"tried":[${JSON.stringify(attempt).slice(0, -1)}`),
  }
}

/** Printed by hand: JSON.stringify takes several times as long, most of it for the names. */
function addUsual(line: ByteText, call: UsualCall, { identity, outcome, attempt }: Fixed): void {
  const [one] = call.tried
  addString(line, NAMES.requestId, call.requestId)
  addString(line, NAMES.callId, call.callId)
  line.add(identity)
  if (call.tags.length === 0) line.add(NO_TAGS)
  else line.addText(membersOf({ tags: call.tags }))
  line.add(outcome)
  const usageAt = line.length
  addUsage(line, call.usage)
  const usageEnd = line.length
  addNumber(line, NAMES.costNano, call.costNano)
  addNumber(line, NAMES.savedNano, call.savedNano)
  if (one) {
    line.add(attempt)
    addNumber(line, NAMES.upstreamStatus, one.upstreamStatus)
    addNumber(line, NAMES.turn, one.turn)
    line.repeat(usageAt, usageEnd)
    addNumber(line, NAMES.costNano, one.costNano)
    addNumber(line, NAMES.startedMs, one.startedMs)
    addNumber(line, NAMES.firstTokenMs, one.firstTokenMs)
    addNumber(line, NAMES.totalMs, one.totalMs)
    line.add(AFTER_ATTEMPT)
  } else {
    line.addText(membersOf({ cache: call.cache }))
    line.add(NO_ATTEMPT)
  }
  line.addNumber(call.malformedEvents)
  addNumber(line, NAMES.overheadMs, call.overheadMs)
  addNumber(line, NAMES.firstTokenMs, call.firstTokenMs)
  addNumber(line, NAMES.upstreamMs, call.upstreamMs)
  addNumber(line, NAMES.totalMs, call.totalMs)
}

/** One attempt's usage, whose members are in the order of `usageOf`. */
function addUsage(line: ByteText, usage: Usage): void {
  if (hasMore(usage)) {
    line.addText(`,"usage":${JSON.stringify(usage)}`)
    return
  }
  line.add(USAGE)
  line.addNumber(usage.inputTokens)
  addNumber(line, NAMES.outputTokens, usage.outputTokens)
  addNumber(line, NAMES.cachedInputTokens, usage.cachedInputTokens)
  line.add(NONE_CREATED)
  line.addNumber(usage.reasoningTokens)
  line.add(NO_MORE)
}

/** Whether there is more than the usual tokens. */
function hasMore(usage: Usage): boolean {
  return (
    usage.cacheCreationInputTokens !== 0 ||
    usage.cacheCreation1hInputTokens !== 0 ||
    usage.audioInputTokens !== 0 ||
    usage.audioOutputTokens !== 0 ||
    usage.imageInputTokens !== 0 ||
    usage.images !== 0 ||
    usage.imageSize !== '' ||
    usage.audioSeconds !== 0 ||
    usage.characters !== 0 ||
    usage.rerankUnits !== 0 ||
    usage.terms !== undefined ||
    usage.toolUses !== undefined ||
    usage.reportedNano !== undefined ||
    usage.estimated
  )
}

function addString(line: ByteText, name: Uint8Array, text: string): void {
  line.add(name)
  line.addString(text)
}

function addNumber(line: ByteText, name: Uint8Array, value: number | undefined): void {
  if (value === undefined) return
  line.add(name)
  line.addNumber(value)
}

const named = (name: string) => encoded(`,"${name}":`)
const NAMES = {
  requestId: named('requestId'),
  callId: named('callId'),
  costNano: named('costNano'),
  savedNano: named('savedNano'),
  upstreamStatus: named('upstreamStatus'),
  turn: named('turn'),
  startedMs: named('startedMs'),
  firstTokenMs: named('firstTokenMs'),
  upstreamMs: named('upstreamMs'),
  totalMs: named('totalMs'),
  overheadMs: named('overheadMs'),
  outputTokens: named('outputTokens'),
  cachedInputTokens: named('cachedInputTokens'),
}
const NO_TAGS = encoded(',"tags":[]')
const AFTER_ATTEMPT = encoded('}],"rescuedFrom":[],"malformedEvents":')
const NO_ATTEMPT = encoded(',"attempts":0,"tried":[],"rescuedFrom":[],"malformedEvents":')
const USAGE = encoded(',"usage":{"inputTokens":')
const NONE_CREATED = encoded(',"cacheCreationInputTokens":0,"cacheCreation1hInputTokens":0,"reasoningTokens":')
const NO_MORE = encoded(
  ',"audioInputTokens":0,"audioOutputTokens":0,"imageInputTokens":0,"images":0,"imageSize":"","audioSeconds":0' +
    ',"characters":0,"rerankUnits":0,"estimated":false}',
)
