import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'

const FIRST_YEAR = 1970
const LAST_YEAR = 9999

/** A moment that the database can hold too, in ISO 8601 with its offset; comes out in UTC. */
export const moment = lazily(() =>
  z.iso
    .datetime({ offset: true })
    .refine((text) => {
      const year = new Date(text).getUTCFullYear()
      return year >= FIRST_YEAR && year <= LAST_YEAR
    })
    .transform((text) => new Date(text).toISOString()),
)
