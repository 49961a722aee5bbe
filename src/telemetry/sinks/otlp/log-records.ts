import type { CallFinished } from '../../events.ts'
import { callAttributes, keyValues, nanos, timesOf } from './attributes.ts'
import type { Json } from './protobuf.ts'
import { isSampled, type Sampling, spanIdOf, traceIdOf } from './trace-ids.ts'

const INFO = 9
const ERROR = 17

/** A record of each call, beside its span where that is sent. Content stands in the span alone. */
export function callRecord(call: CallFinished, sampling: Sampling): Json {
  const time = nanos(timesOf(call).ended)
  const failed = call.errorType !== ''
  const isLinked = isSampled(call.callId, call.trace, sampling)
  return {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityNumber: failed ? ERROR : INFO,
    severityText: failed ? 'ERROR' : 'INFO',
    eventName: 'gen_ai.client.inference.operation.details',
    body: { stringValue: `${call.requestedModel}: ${call.ending}` },
    attributes: keyValues(callAttributes(call)),
    traceId: traceIdOf(call.callId, call.trace),
    spanId: spanIdOf(call.callId, 'call'),
    flags: isLinked ? 1 : 0,
  }
}
