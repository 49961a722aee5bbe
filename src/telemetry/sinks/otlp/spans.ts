import type { CallContent } from '../../content/recording.ts'
import type { AttemptFinished, CallFinished, ToolCallFinished } from '../../events.ts'
import { callAttributes, keyValues, nanos, operationOf, providerName, timesOf } from './attributes.ts'
import { messageAttributes } from './message-attributes.ts'
import type { Json } from './protobuf.ts'
import { spanIdOf, traceIdOf } from './trace-ids.ts'

const INTERNAL = 1
const CLIENT = 3
const ERROR = 2
const SAMPLED = 1

/** A span of the call with all its attempts, one for each of them, and one for each call of a managed tool. */
export function callSpans(call: CallFinished, content: CallContent | undefined): Json[] {
  const { began, ended } = timesOf(call)
  const traceId = traceIdOf(call.callId, call.trace)
  const spanId = spanIdOf(call.callId, 'call')
  const own: Json = {
    traceId,
    spanId,
    parentSpanId: call.trace?.parent?.spanId,
    flags: SAMPLED,
    name: `${operationOf(call)} ${call.requestedModel}`,
    kind: CLIENT,
    startTimeUnixNano: nanos(began),
    endTimeUnixNano: nanos(ended),
    attributes: keyValues({ ...callAttributes(call), ...(content ? messageAttributes(call, content) : {}) }),
    events: eventsOf(call, began),
    status: call.errorType === '' ? {} : { code: ERROR, message: call.errorType },
  }
  const attempts = call.tried.map((one, index) =>
    attemptSpan(one, { traceId, parentSpanId: spanId, spanId: spanIdOf(call.callId, String(index)) }, began, {
      isContinuation: call.tried[index - 1]?.result === 'cut',
    }),
  )
  const tools = call.tools.map((one, index) =>
    toolSpan(one, { traceId, parentSpanId: spanId, spanId: spanIdOf(call.callId, `tool ${index}`) }, began),
  )
  return [own, ...attempts, ...tools]
}

function eventsOf({ firstTokenMs, tried }: CallFinished, began: number): Json[] {
  const first =
    firstTokenMs === undefined ? [] : [{ name: 'gateway.first_token', timeUnixNano: nanos(began + firstTokenMs) }]
  const fallbacks = tried.slice(0, -1).flatMap(({ result, deployment, error, startedMs, totalMs }, index) =>
    result === 'failed' || result === 'cut'
      ? [
          {
            name: 'gateway.fallback',
            timeUnixNano: nanos(began + startedMs + totalMs),
            attributes: keyValues({
              'gateway.fallback.from': deployment,
              'gateway.fallback.to': tried[index + 1]?.deployment,
              'error.type': error,
            }),
          },
        ]
      : [],
  )
  return [...first, ...fallbacks]
}

function attemptSpan(
  one: AttemptFinished,
  ids: { readonly traceId: string; readonly spanId: string; readonly parentSpanId: string },
  began: number,
  { isContinuation }: { readonly isContinuation: boolean },
): Json {
  const startedAt = began + one.startedMs
  return {
    ...ids,
    flags: SAMPLED,
    name: `${isContinuation ? 'continuation' : 'attempt'} ${one.deployment}`,
    kind: CLIENT,
    startTimeUnixNano: nanos(startedAt),
    endTimeUnixNano: nanos(startedAt + one.totalMs),
    // Usage has names of its own here: the call's span has the sum.
    attributes: keyValues({
      'gen_ai.provider.name': providerName(one.provider),
      'error.type': one.error,
      'gateway.deployment': one.deployment,
      'gateway.attempt.result': one.result,
      'gateway.attempt.input_tokens': one.usage?.inputTokens,
      'gateway.attempt.output_tokens': one.usage?.outputTokens,
      'gateway.attempt.cost.usd': one.costNano === undefined ? undefined : one.costNano / 1e9,
    }),
    events:
      one.firstTokenMs === undefined
        ? []
        : [{ name: 'gateway.first_token', timeUnixNano: nanos(startedAt + one.firstTokenMs) }],
    status: one.error === '' ? {} : { code: ERROR, message: one.error },
  }
}

/** A span of a managed tool's call. */
function toolSpan(
  { tool, server, result, ms, startedMs = 0 }: ToolCallFinished,
  ids: { readonly traceId: string; readonly spanId: string; readonly parentSpanId: string },
  began: number,
): Json {
  return {
    ...ids,
    flags: SAMPLED,
    name: `execute_tool ${tool}`,
    kind: INTERNAL,
    startTimeUnixNano: nanos(began + startedMs),
    endTimeUnixNano: nanos(began + startedMs + ms),
    attributes: keyValues({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.type': 'extension',
      'error.type': result === 'ok' ? undefined : result,
      'gateway.tool.server': server,
    }),
    status: result === 'ok' ? {} : { code: ERROR, message: result },
  }
}
