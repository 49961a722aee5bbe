import * as z from 'zod'
import { GatewayError } from '../../lib/errors.ts'

/** The most that a client of the Messages API may ask for at a time. Without a limit everything is one page. */
const MOST = 1000

/** The members of a query that are read of clients of the Messages API only: others may mean something else by them. */
export const messagesPageQuery = () =>
  z.object({
    limit: z.string().optional().describe(`For clients of the Messages API: models of a page, at most ${MOST}.`),
    after_id: z.string().optional().describe('For clients of the Messages API: the last model of the page before.'),
    before_id: z.string().optional().describe('For clients of the Messages API: the first model of the page behind.'),
  })

/** The page of names that a client of the Messages API asks for, and whether more follow in its direction. */
export function messagesPage(
  names: readonly string[],
  { limit, after_id, before_id }: z.output<ReturnType<typeof messagesPageQuery>>,
): { readonly page: readonly string[]; readonly hasMore: boolean } {
  const size = limit === undefined ? names.length : Number(limit)
  if (limit !== undefined && !(Number.isInteger(size) && size >= 1 && size <= MOST))
    throw new GatewayError('invalid_request', `'limit' must be an integer from 1 to ${MOST}.`, { param: 'limit' })
  if (before_id !== undefined) {
    const end = placeOf(names, before_id, 'before_id')
    return { page: names.slice(Math.max(0, end - size), end), hasMore: end > size }
  }
  const from = after_id === undefined ? 0 : placeOf(names, after_id, 'after_id') + 1
  return { page: names.slice(from, from + size), hasMore: from + size < names.length }
}

function placeOf(names: readonly string[], name: string, param: string): number {
  const place = names.indexOf(name)
  if (place === -1)
    throw new GatewayError('invalid_request', `'${param}' must be the id of a model that you may call.`, { param })
  return place
}
