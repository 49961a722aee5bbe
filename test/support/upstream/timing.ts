import { defineChange, type Plan } from './behaviour.ts'

/** The status line comes late. */
export const slowHeaders = defineChange(
  'slowHeaders',
  (plan, { ms }: { ms: number }): Plan => ({ ...plan, waitMs: plan.waitMs + ms }),
)

/** The status line comes at once, the first byte of the body late. */
export const slowFirstToken = defineChange(
  'slowFirstToken',
  (plan, { ms }: { ms: number }): Plan => ({
    ...plan,
    writes: plan.writes.map((write, index) => (index === 0 ? { ...write, waitMs: write.waitMs + ms } : write)),
  }),
)

/** A pause before each further write; before the one at index `only` alone, when it is given. */
export const slowBetween = defineChange(
  'slowBetween',
  (plan, { ms, only }: { ms: number; only?: number }): Plan => ({
    ...plan,
    writes: plan.writes.map((write, index) =>
      (only === undefined ? index > 0 : index === only) ? { ...write, waitMs: write.waitMs + ms } : write,
    ),
  }),
)
