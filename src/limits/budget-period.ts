/** The time after which a budget resets. */
export interface BudgetDuration {
  readonly count: number
  readonly unit: 's' | 'm' | 'h' | 'd' | 'w' | 'mo' | 'y'
}

const FORM = /^([1-9]\d{0,4})(mo|[smhdwy])$/

const FIXED_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
const MONTHS = { mo: 1, y: 12 } as const

/** Reads `24h`, `30d`, `1mo`; undefined if the text is not a duration. */
export function readBudgetDuration(text: string): BudgetDuration | undefined {
  const match = FORM.exec(text)
  return match ? { count: Number(match[1]), unit: match[2] as BudgetDuration['unit'] } : undefined
}

/** The period that contains `now`, in milliseconds since 1970. Periods follow one another from `startedAt`, which is a time
 *  of another clock: the first one holds all that is earlier. Months and years begin on the same day of the month, or on the
 *  month's last. */
export function budgetPeriod(
  { count, unit }: BudgetDuration,
  startedAt: number,
  now: number,
): { readonly begins: number; readonly ends: number } {
  const at = Math.max(now, startedAt)
  if (unit in FIXED_MS) {
    const length = count * FIXED_MS[unit as keyof typeof FIXED_MS]
    const begins = startedAt + Math.floor((at - startedAt) / length) * length
    return { begins, ends: begins + length }
  }
  const months = count * MONTHS[unit as keyof typeof MONTHS]
  const [from, to] = [new Date(startedAt), new Date(at)]
  const apart = 12 * (to.getUTCFullYear() - from.getUTCFullYear()) + to.getUTCMonth() - from.getUTCMonth()
  let periods = Math.floor(apart / months)
  if (monthsAfter(from, periods * months) > at) periods -= 1
  return { begins: monthsAfter(from, periods * months), ends: monthsAfter(from, (periods + 1) * months) }
}

function monthsAfter(from: Date, months: number): number {
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months]
  const daysInMonth = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const time = new Date(from)
  time.setUTCFullYear(year, month, Math.min(from.getUTCDate(), daysInMonth))
  return time.getTime()
}
