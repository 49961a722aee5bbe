import * as z from 'zod'

const FIRST_YEAR = 1970
const LAST_YEAR = 9999

/** A moment that the database can hold too, in ISO 8601 with its offset; comes out in UTC. */
export const moment = z.iso
  .datetime({ offset: true })
  .refine((text) => {
    const year = new Date(text).getUTCFullYear()
    return year >= FIRST_YEAR && year <= LAST_YEAR
  })
  .transform((text) => new Date(text).toISOString())
