import type { ModelRequest } from '../../modes/mode.ts'
import type { CallTrace, TraceParent } from '../../telemetry/events.ts'

const LONGEST = 200

/** Where a call belongs in the traces of its client, as its metadata and its `traceparent` say. */
export function traceOf({ metadata, user }: ModelRequest, parent: TraceParent | undefined): CallTrace | undefined {
  const traceId = textOf(metadata?.trace_id)
  const sessionId = textOf(metadata?.session_id)
  const endUser = textOf(user) ?? textOf(metadata?.user) ?? textOf(metadata?.user_id)
  return (parent ?? traceId ?? sessionId ?? endUser) ? { traceId, sessionId, user: endUser, parent } : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST).toWellFormed() : undefined
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-|$)/

/** The client's span; undefined where the header names none. */
export function traceParent(header: string | undefined): TraceParent | undefined {
  const [, traceId, spanId, flags] = (header && TRACEPARENT.exec(header)) || []
  return traceId && spanId && flags ? { traceId, spanId, sampled: Number.parseInt(flags, 16) % 2 === 1 } : undefined
}
