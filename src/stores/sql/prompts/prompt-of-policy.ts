import { type RawBuilder, sql } from 'kysely'

/** The key of the prompt that a policy names as `key`, `key@3` or `key:label`; NULL if it names none. */
export const promptOfPolicy = (policy: RawBuilder<unknown>): RawBuilder<string | null> =>
  sql`split_part(split_part(${policy} ->> 'prompt_ref', '@', 1), ':', 1)`
