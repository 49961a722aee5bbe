import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'

/** Text that Postgres can store and compare. */
export const storable = lazily(() =>
  z.string().refine((text) => text.isWellFormed() && !text.includes('\0'), 'holds what is no text'),
)

export function isStorable(text: string): boolean {
  return storable().safeParse(text).success
}
