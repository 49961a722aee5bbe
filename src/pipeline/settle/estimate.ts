import { asRecord, entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import { estimatedUsage, tokensOfCharacters, type Usage } from '../../modes/usage.ts'
import { inputBound } from '../admit/input-bound.ts'
import { longestInput } from '../admit/longest-input.ts'
import { effortOf, outputBound } from '../admit/output-bound.ts'
import type { Attempt, Call } from '../call.ts'
import { requestBytes } from '../call-input.ts'
import type { PipelineServices } from '../services.ts'
import { settingsOf } from '../translate/dialect.ts'

/** The estimated tokens of an answer: never more than the call's own limit, since many a token has more than four
 *  characters. */
export function withinLimit(tokens: number, { endpoint, request }: Call, { deployment }: Attempt): number {
  const bound = outputBound(endpoint, request, deployment)
  return bound.limited ? Math.min(tokens, bound.tokens) : tokens
}

/** Estimates unreported usage from the lengths of the request and the answer; never more input than the deployment's
 *  model reads. */
export function estimate(call: Call, attempt: Attempt): Usage {
  const { deployment } = attempt
  const { dialect, mode } = call.endpoint
  const usage = estimatedUsage(requestBytes(call), call.outputCharacters)
  const ofKind = dialect ? { inputTokens: inputBound(call, call.request).likely } : mode.unreported?.(call.request)
  const whole = { ...usage, ...ofKind }
  return {
    ...whole,
    inputTokens: Math.min(whole.inputTokens, longestInput(call.endpoint, call.request, deployment)),
    outputTokens: withinLimit(whole.outputTokens, call, attempt),
  }
}

/** Typical reasoning tokens of each named effort. The maximum may be ten times as much. */
const THOUGHTS: Readonly<Record<string, number>> = {
  low: 512,
  medium: 1024,
  high: 4096,
  xhigh: 8192,
  max: 8192,
}
/** The share of a reasoning budget that is typically used. */
const BUDGET_SHARE = 1 / 4
/** The assumed speed of reasoning, in tokens per millisecond. */
const TOKENS_A_MS = 0.05

/** Estimates the usage of an answer that its client abandoned. Much of it may be invisible, such as reasoning: the
 *  larger counts of the deployment's usual answer, in proportion to the elapsed time, and the requested reasoning;
 *  never more than the call's bound. */
export function ofUnfinished({ usual, signals }: PipelineServices, call: Call, left: Attempt, seen: Usage): Usage {
  const { endpoint, request } = call
  const { deployment, startedAt, endedAt = performance.now(), firstTokenAt } = left
  if (!seen.estimated || endpoint.free || !endpoint.dialect) return seen
  const bound = outputBound(endpoint, request, deployment)
  const known = usual.of(deployment.id)
  const { latencyMs } = signals.of(deployment.id)
  const elapsedMs = endedAt - startedAt
  const share = latencyMs > 0 ? Math.min(1, elapsedMs / latencyMs) : 1
  const written = known ? known.answer * bound.answers * share : 0
  const asked = Math.min(
    thoughtsAsked(settingsOf(endpoint.dialect, request), deployment.connection.defaults),
    known?.longAnswer ?? Number.POSITIVE_INFINITY,
  )
  const thought = firstTokenAt === undefined ? Math.min(asked, elapsedMs * TOKENS_A_MS) : asked
  const outputTokens = Math.ceil(Math.min(bound.tokens, Math.max(seen.outputTokens, written, thought)))
  // Input usage that the provider reported at the beginning needs no estimate.
  if (call.usage || !known) return { ...seen, outputTokens: Math.max(seen.outputTokens, outputTokens) }
  const likely = Math.ceil(tokensOfCharacters(requestBytes(call)) * known.inputRatio)
  const read = Math.min(likely, longestInput(endpoint, request, deployment))
  return {
    ...seen,
    inputTokens: Math.max(seen.inputTokens, read),
    outputTokens: Math.max(seen.outputTokens, outputTokens),
  }
}

function thoughtsAsked(request: JsonRecord, defaults: JsonRecord): number {
  const reasoning = asRecord(request.reasoning)
  const budgets = [asRecord(request.thinking ?? defaults.thinking).budget_tokens, reasoning.max_tokens]
  const used = budgets.map((tokens) => (typeof tokens === 'number' && tokens > 0 ? tokens * BUDGET_SHARE : 0))
  return Math.max(entryOf(THOUGHTS, effortOf(request, defaults)) ?? 0, ...used)
}
