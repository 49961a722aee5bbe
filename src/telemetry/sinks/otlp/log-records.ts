import type { CallFinished } from '../../events.ts'
import type { Notice } from '../../notices.ts'
import { noticeData, PUBLIC_NAMES } from '../notice-data.ts'
import { callAttributes, keyValues, nanos, timesOf } from './attributes.ts'
import type { Json } from './protobuf.ts'
import { isSampled, type Sampling, spanIdOf, traceIdOf } from './trace-ids.ts'

const INFO = 9
const WARN = 13
const ERROR = 17

/** A log record of each call. Content is in the span alone. */
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

/** A log record of a notice; its fields are attributes with the names of webhooks. */
export function noticeRecord(notice: Notice): Json {
  const time = nanos(Date.parse(notice.at))
  const name = PUBLIC_NAMES[notice.type]
  const isGood = notice.type === 'batch.finished' && notice.status === 'completed'
  const attributes = Object.entries(noticeData(notice)).map(([field, value]) => [
    `gateway.${field}`,
    value ?? undefined,
  ])
  return {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityNumber: isGood ? INFO : WARN,
    severityText: isGood ? 'INFO' : 'WARN',
    eventName: `gateway.${name}`,
    body: { stringValue: name },
    attributes: keyValues(Object.fromEntries(attributes)),
  }
}
