import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'

const DAY_MS = 86_400_000

/** The answer field that tells from when on rows are complete, for lists whose old rows are removed. */
export const keptFrom = lazily(() => ({
  kept_from: z.iso.datetime().nullable().describe('Rows from before this moment are removed; null: none are.'),
}))

export function keptFromAnswer(days: number, now: number): { readonly kept_from: string | null } {
  return { kept_from: days === 0 ? null : new Date(now - days * DAY_MS).toISOString() }
}

/** The same as a header of an export. */
export function keptFromHeaders(days: number, now: number): Readonly<Record<string, string>> {
  const { kept_from: moment } = keptFromAnswer(days, now)
  return moment === null ? {} : { 'x-gateway-kept-from': moment }
}
