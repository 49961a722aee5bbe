import type { ModelRequest } from '../../modes/mode.ts'
import type { CallTrace } from '../../telemetry/events.ts'

const LONGEST = 200

/** Where a call belongs in the traces of its client, as its metadata says. */
export function traceOf({ metadata, user }: ModelRequest): CallTrace | undefined {
  const traceId = textOf(metadata?.trace_id)
  const sessionId = textOf(metadata?.session_id)
  const endUser = textOf(user) ?? textOf(metadata?.user) ?? textOf(metadata?.user_id)
  return (traceId ?? sessionId ?? endUser) ? { traceId, sessionId, user: endUser } : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST).toWellFormed() : undefined
}
