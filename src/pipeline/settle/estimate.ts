import { asRecord, entryOf } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { estimatedUsage, tokensOfCharacters, type Usage } from '../../modes/usage.ts'
import { inputBound } from '../admit/input-bound.ts'
import { outputBound } from '../admit/output-bound.ts'
import type { Attempt, Call } from '../call.ts'
import { requestBytes } from '../call-input.ts'
import type { PipelineServices } from '../services.ts'

/** What an answer has used whose provider did not say: by the length of what was sent and of what came. */
export function estimate(call: Call): Usage {
  const usage = estimatedUsage(requestBytes(call), call.outputCharacters)
  const { dialect, mode } = call.endpoint
  if (dialect) return { ...usage, inputTokens: inputBound(call, call.request).likely }
  return { ...usage, ...mode.unreported?.(call.request) }
}

/** Tokens that models think with, in words: what is usual, where the most of it may be ten times as much. */
const THOUGHTS: Readonly<Record<string, number>> = {
  low: 512,
  medium: 1024,
  high: 4096,
  xhigh: 8192,
  max: 8192,
}
/** What is used of a number of tokens to think with. */
const BUDGET_SHARE = 1 / 4
/** How fast models think, where nobody has seen one of a deployment answer. */
const TOKENS_A_MS = 0.05

/** The same of an answer that its client did not wait for. Much of it may never be seen, such as thoughts: what answers of
 *  the deployment usually use counts as far as this one has come, and the thoughts that were asked for; never more than the
 *  call itself allows. */
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
    thoughtsAsked(request, deployment.connection.defaults),
    known?.longAnswer ?? Number.POSITIVE_INFINITY,
  )
  const thought = firstTokenAt === undefined ? Math.min(asked, elapsedMs * TOKENS_A_MS) : asked
  const outputTokens = Math.ceil(Math.min(bound.tokens, Math.max(seen.outputTokens, written, thought)))
  // What its provider told of the input at the beginning needs no guess.
  if (call.usage || !known) return { ...seen, outputTokens: Math.max(seen.outputTokens, outputTokens) }
  const read = Math.ceil(tokensOfCharacters(requestBytes(call)) * known.inputRatio)
  return {
    ...seen,
    inputTokens: Math.max(seen.inputTokens, read),
    outputTokens: Math.max(seen.outputTokens, outputTokens),
  }
}

function thoughtsAsked(request: ModelRequest, defaults: Readonly<Record<string, unknown>>): number {
  const reasoning = asRecord(request.reasoning)
  const effort =
    request.reasoning_effort ?? reasoning.effort ?? asRecord(request.output_config).effort ?? defaults.reasoning_effort
  const budgets = [asRecord(request.thinking ?? defaults.thinking).budget_tokens, reasoning.max_tokens]
  const told = budgets.map((tokens) => (typeof tokens === 'number' && tokens > 0 ? tokens * BUDGET_SHARE : 0))
  return Math.max(entryOf(THOUGHTS, effort) ?? 0, ...told)
}
