import { type Behaviour, defineChange, type Ending, measured, type Plan, type Write } from './behaviour.ts'

/** The connection is reset before a status line. */
export const reset = (): Behaviour => ({ say: { kind: 'nothing', ending: 'reset' }, changes: [] })

/** The connection is closed before a status line. */
export const hangUp = (): Behaviour => ({ say: { kind: 'nothing', ending: 'close' }, changes: [] })

/** Takes the call and never says a word. */
export const silence = (): Behaviour => ({ say: { kind: 'nothing', ending: 'hang' }, changes: [] })

/** How much is still sent: that many events, or that many bytes. A whole reply is one event. */
export type Measure = { readonly frames: number } | { readonly bytes: number }

/** Breaks off in the middle: `close` and `reset` at the socket, `end` with a proper end of the body, as if all were said. */
export const cutAfter = defineChange('cutAfter', (plan, options: Measure & { how?: Exclude<Ending, 'hang'> }) => {
  const how = options.how ?? 'close'
  const cut: Plan = { ...plan, writes: until(plan.writes, options), ending: how }
  return how === 'end' ? measured(cut) : cut
})

/** Stops in the middle with the connection open. */
export const stallAfter = defineChange(
  'stallAfter',
  (plan, options: Measure): Plan => ({ ...plan, writes: until(plan.writes, options), ending: 'hang' }),
)

/** Never everything: what has no more events than are asked for is cut inside its last one. */
function until(writes: readonly Write[], measure: Measure): Write[] {
  if ('frames' in measure) {
    if (measure.frames < writes.length) return writes.slice(0, measure.frames)
    const last = writes.at(-1)
    if (!last) return []
    return [...writes.slice(0, -1), { ...last, bytes: last.bytes.slice(0, Math.floor(last.bytes.byteLength / 2)) }]
  }
  const kept: Write[] = []
  let left = measure.bytes
  for (const write of writes) {
    if (left <= 0) break
    kept.push({ ...write, bytes: write.bytes.slice(0, left) })
    left -= write.bytes.byteLength
  }
  return kept
}
