import { digestOf } from '../../../lib/crypto.ts'
import type { CallTrace } from '../../events.ts'

/** The ids of a call's spans, derived from the call's id: a repeated delivery has the same ones. */
export function traceIdOf(callId: string, trace: CallTrace | undefined): string {
  if (trace?.parent) return trace.parent.traceId
  // A client that names its trace as OpenTelemetry does finds the call there.
  const named = trace?.traceId?.replaceAll('-', '').toLowerCase()
  return named && /^[0-9a-f]{32}$/.test(named) && !/^0+$/.test(named) ? named : digestOf(`trace ${callId}`).slice(0, 32)
}

/** `part`: 'call', or an attempt by its number, or a tool call by its. */
export const spanIdOf = (callId: string, part: string) => digestOf(`span ${callId} ${part}`).slice(0, 16)

/** Which traces are sent. */
export interface Sampling {
  /** The share of all traces. */
  readonly share: number
  /** A client's traceparent decides for its own traces. */
  readonly isParentBased: boolean
}

/** Whether a call's spans are sent: as its client decided, else by the last 52 bits of the trace's id, so that services
 *  that sample a larger share by the same bits have the trace too. */
export function isSampled(callId: string, trace: CallTrace | undefined, { share, isParentBased }: Sampling): boolean {
  if (isParentBased && trace?.parent) return trace.parent.sampled
  if (share >= 1) return true
  return Number.parseInt(traceIdOf(callId, trace).slice(-13), 16) / 2 ** 52 >= 1 - share
}

/** The header by which an upstream continues the trace of an attempt. */
export function traceparent(of: Sampling, callId: string, trace: CallTrace | undefined, attempt: number): string {
  const sampled = isSampled(callId, trace, of) ? '01' : '00'
  return `00-${traceIdOf(callId, trace)}-${spanIdOf(callId, String(attempt))}-${sampled}`
}
