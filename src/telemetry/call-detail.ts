import type { AttemptDetail, CallDetail, ToolCallDetail, UsedDetail } from '../stores/sql/spend/call-detail.ts'
import { keepable } from '../stores/sql/storable-text.ts'
import type { AttemptFinished, CallFinished, ToolCallFinished } from './events.ts'

/** How many attempts, and how many tool calls, of one call are stored. */
const MOST = 16
const LONGEST_TEXT = 320
const NONE: readonly never[] = []

/** The detail of a call that its row does not hold, as JSON; null if the row holds everything. */
export function detailOf(call: CallFinished): string | null {
  // Earlier builds had no tools.
  const { ending, attempts, tried, tools = NONE, heldNano } = call
  const traceId = call.trace?.traceId
  const says = ending !== 'answered' || attempts > 1 || !isUsual(call.usage) ? tried : NONE
  if (says.length + tools.length === 0 && !traceId) return heldNano ? heldAlone(heldNano) : null
  const detail: CallDetail = {
    attempts: ends(says).map(attemptDetail),
    tool_calls: ends(tools).map(toolCallDetail),
    tool_calls_left_out: Math.max(0, tools.length - MOST) || undefined,
    trace_id: traceId && keepable(traceId, LONGEST_TEXT),
    held_nano: heldNano || undefined,
  }
  return JSON.stringify(detail)
}

/** The detail of nearly every call: printed by hand, since that is much faster. */
const heldAlone = (heldNano: number) => `{"attempts":[],"tool_calls":[],"held_nano":${heldNano}}`

/** Whether the row of a call holds everything that it is billed by. */
function isUsual(usage: CallFinished['usage']): boolean {
  if (!usage) return true
  const {
    terms,
    toolUses,
    cacheCreation1hInputTokens,
    audioInputTokens,
    audioOutputTokens,
    imageInputTokens,
    imageSize,
  } = usage
  return !(
    terms ||
    toolUses ||
    cacheCreation1hInputTokens ||
    audioInputTokens ||
    audioOutputTokens ||
    imageInputTokens ||
    imageSize
  )
}

/** Whether an attempt failed and was followed by another one, in any turn. */
export function isFailedOver({ attempts, tried }: CallFinished): boolean {
  if (attempts < 2) return false
  return tried.some(({ result, turn }, index) => {
    if (result !== 'failed' && result !== 'cut') return false
    return tried.slice(index + 1).some((next) => next.turn === turn && next.result !== 'lost_hedge')
  })
}

/** The first and the last of a list that is too long. */
function ends<Entry>(list: readonly Entry[]): readonly Entry[] {
  return list.length <= MOST ? list : [...list.slice(0, MOST / 2), ...list.slice(-MOST / 2)]
}

function attemptDetail(one: AttemptFinished): AttemptDetail {
  const { message, upstreamMessage } = one
  return {
    deployment: keepable(one.deployment, LONGEST_TEXT),
    provider: one.provider,
    // Earlier builds did not say it.
    group: keepable(one.group ?? '', LONGEST_TEXT),
    turn: one.turn,
    result: one.result,
    error: one.error || undefined,
    message: message && keepable(message, LONGEST_TEXT),
    upstream_status: one.upstreamStatus,
    upstream_message: upstreamMessage && keepable(upstreamMessage, LONGEST_TEXT),
    started_ms: one.startedMs,
    first_token_ms: one.firstTokenMs,
    total_ms: one.totalMs,
    cost_nano: one.costNano,
    usage: one.usage && usedDetail(one.usage),
  }
}

function usedDetail(usage: NonNullable<AttemptFinished['usage']>): UsedDetail {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value))
}

function toolCallDetail({ server, tool, result, ms, startedMs }: ToolCallFinished): ToolCallDetail {
  return {
    server: keepable(server, LONGEST_TEXT),
    tool: keepable(tool, LONGEST_TEXT),
    result,
    started_ms: startedMs,
    total_ms: ms,
  }
}
