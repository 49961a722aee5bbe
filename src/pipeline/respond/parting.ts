import type { Abort, Aborter } from '../../lib/abort.ts'
import type { GatewayError } from '../../lib/errors.ts'
import { departure } from '../client.ts'

/** How long an upstream that has begun to answer is read after its client left: many are about to end and then report
 *  their usage. */
const BEGUN_MS = 400
/** The same for an answer that is complete except for its usage. Together with the abort it stays within a second. */
const COMPLETE_MS = 900

/** The grace period of an upstream request after its client left. */
export interface Parting {
  /** The client left. */
  left(): void
  /** The provider began to answer. Before that the request is ended at once. */
  begun(): void
  /** The answer is complete except for its usage. */
  complete(): void
  stop(): void
}

interface State extends Parting {
  readonly signal: Abort
  readonly ended: Aborter<GatewayError>
  graceMs: number
  leftAt: number | undefined
  timer: ReturnType<typeof setTimeout> | undefined
}

/** Ends an upstream request after a grace period once its client left, or at once if its usage cannot be learned. `signal`
 *  is the client's. */
export function newParting(signal: Abort, ended: Aborter<GatewayError>): Parting {
  const made: State = { signal, ended, graceMs: 0, leftAt: undefined, timer: undefined, left, begun, complete, stop }
  return made
}

function left(this: State): void {
  if (this.leftAt !== undefined) return
  this.leftAt = performance.now()
  arm(this)
}

function begun(this: State): void {
  this.graceMs = BEGUN_MS
  arm(this)
}

function complete(this: State): void {
  this.graceMs = COMPLETE_MS
  arm(this)
}

function stop(this: State): void {
  if (this.timer !== undefined) clearTimeout(this.timer)
}

function arm(parting: State): void {
  const { leftAt, graceMs } = parting
  if (leftAt === undefined) return
  clearTimeout(parting.timer)
  if (graceMs === 0) end(parting)
  else parting.timer = setTimeout(end, Math.max(0, leftAt + graceMs - performance.now()), parting)
}

function end({ signal, ended }: State): void {
  ended.abort(departure(signal))
}
