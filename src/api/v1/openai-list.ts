import * as z from 'zod'

/** A page as OpenAI's API lists records. */
export const openaiList = <Entry extends z.ZodType>(entry: () => Entry) =>
  z.object({
    object: z.literal('list'),
    data: z.array(entry()),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })

/** A page of at most `limit` entries. One more was read, to know whether another page follows. */
export function openaiPage<Entry extends { readonly id: string }>(entries: readonly Entry[], limit: number) {
  const data = entries.slice(0, limit)
  return {
    object: 'list',
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: entries.length > limit,
  }
}

/** A time as OpenAI's API writes it. */
export const unixSeconds = (time: string): number => Math.floor(Date.parse(time) / 1000)
