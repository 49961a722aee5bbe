import type { Group } from './deployment.ts'

const KEPT = 100
/** With fewer samples the 95th percentile is the slowest one. */
const ENOUGH = 20

/** The waits of a group's last calls for their answer to begin, in this process: the store only has means. The keys are
 *  the registry's groups, so that removed groups are collected, and a change of the registry starts anew. `kind`
 *  separates calls of different duration: streams and whole answers, chat and images. */
const waits = new WeakMap<Group, Map<string, Waits>>()

interface Waits {
  readonly last: number[]
  next: number
  p95: number | undefined
}

/** Adds a sample. An attempt that lost a hedge counts with its time until then: leaving it out would lower the
 *  percentile with every hedge, and so cause more hedges. */
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
