import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import type { DeadLetter } from '../../../stores/sql/dead-letter-records.ts'
import { moment } from '../moment.ts'

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z)~letter_[0-9a-f]{32}$/

export const letterCursor = lazily(() =>
  z
    .union([z.literal(''), z.string().refine(isCursor)], { error: 'must be the next_cursor of the page before' })
    .optional()
    .describe('`next_cursor` of the page before.'),
)

const isCursor = (text: string) => moment().safeParse(CURSOR.exec(text)?.[1]).success

export const cursorOf = ({ died_at, letter_id }: DeadLetter) => `${died_at}~${letter_id}`
