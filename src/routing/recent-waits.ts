import type { Group } from './deployment.ts'

const KEPT = 100
/** Of fewer, the 95th percentile is no more than the slowest. */
const ENOUGH = 20

/** How long the last calls of a group waited for their answer to begin, in this process: the store keeps means, of which
 *  no percentile can be told. By the group as the registry made it, so that what is removed is forgotten; a change of
 *  the registry begins anew. `kind` tells apart what takes different times: streams and whole answers, chat and images. */
const waits = new WeakMap<Group, Map<string, Waits>>()

interface Waits {
  readonly last: number[]
  next: number
  p95: number | undefined
}

/** Of an attempt that was ended because another answered first, the time until then: leaving those out would make the
 *  percentile fall with every second attempt, and the second attempts grow. */
export function learnWait(group: Group, kind: string, milliseconds: number): void {
  const kinds = waits.get(group) ?? new Map<string, Waits>()
  waits.set(group, kinds)
  const known = kinds.get(kind) ?? { last: [], next: 0, p95: undefined }
  kinds.set(kind, known)
  known.last[known.next] = milliseconds
  known.next = (known.next + 1) % KEPT
  known.p95 = undefined
}

/** undefined if there are too few samples. */
export function p95Wait(group: Group, kind: string): number | undefined {
  const known = waits.get(group)?.get(kind)
  if (!known || known.last.length < ENOUGH) return undefined
  known.p95 ??= known.last.toSorted((a, b) => a - b)[Math.ceil(0.95 * known.last.length) - 1]
  return known.p95
}
