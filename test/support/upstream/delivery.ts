import { seededRandom } from '../random.ts'
import { bytesOf, defineChange, joined, type Plan, textOf, type Write, writeOf } from './behaviour.ts'

/** The same bytes in other pieces: cut at these offsets, every so many bytes, or at random ones of a seed. */
export type Cuts = { readonly at: readonly number[] } | { readonly every: number } | { readonly seed: number }

/** Cuts the body elsewhere than between events; what was waited before the first write stays. */
export const recut = defineChange('recut', (plan, cuts: Cuts): Plan => {
  const whole = joined(plan.writes)
  const writes: Write[] = []
  let start = 0
  for (const end of [...offsets(cuts, whole.byteLength), whole.byteLength]) {
    if (end <= start) continue
    writes.push({ waitMs: start === 0 ? (plan.writes[0]?.waitMs ?? 0) : 0, bytes: whole.slice(start, end) })
    start = end
  }
  return { ...plan, writes }
})

/** Everything in one write. */
export const oneWrite = defineChange(
  'oneWrite',
  (plan, _: Record<never, never>): Plan => ({
    ...plan,
    writes: [{ waitMs: plan.writes[0]?.waitMs ?? 0, bytes: joined(plan.writes) }],
  }),
)

/** Other line ends between and inside events. */
export const lineEnds = defineChange(
  'lineEnds',
  (plan, { as }: { as: '\r\n' | '\r' }): Plan => ({
    ...plan,
    writes: plan.writes.map((write) => ({ ...write, bytes: bytesOf(textOf(write).replaceAll('\n', as)) })),
  }),
)

/** A comment before every event, as vendors send to keep a connection alive. */
export const comments = defineChange(
  'comments',
  (plan, { text = 'keep-alive' }: { text?: string }): Plan => ({
    ...plan,
    writes: plan.writes.flatMap((write) => [writeOf(`: ${text}\n\n`, write.waitMs), { ...write, waitMs: 0 }]),
  }),
)

function offsets(cuts: Cuts, length: number): readonly number[] {
  if ('at' in cuts) return cuts.at.filter((offset) => offset < length)
  const found: number[] = []
  const random = 'seed' in cuts ? seededRandom(cuts.seed) : undefined
  const step = () => random?.integer(1, 40) ?? Math.max(1, 'every' in cuts ? cuts.every : 1)
  for (let at = step(); at < length; at += step()) found.push(at)
  return found
}
