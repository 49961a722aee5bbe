import { GatewayError } from '../../lib/errors.ts'
import type { Bounds } from '../plan/plan.ts'

/** What a provider answers about something that it has not, or will not show. */
const ABOUT_IDS: ReadonlySet<number> = new Set([400, 403, 404, 410])

/** What is shorter stands in many an answer by chance. */
const SHORTEST_ID = 8

const decoder = new TextDecoder()

/** A failure that names an id of the request is the request's own, whatever the vendor's words for it. */
export function lostId(
  { ids }: Bounds,
  failure: GatewayError,
  { status, bytes }: { readonly status: number; readonly bytes: Uint8Array },
): GatewayError | undefined {
  if (!ids || !failure.row.blames || !ABOUT_IDS.has(status)) return undefined
  const text = decoder.decode(bytes)
  const named = ids.find(({ id }) => id.length >= SHORTEST_ID && text.includes(id))
  if (!named) return undefined
  const kind = named.kind.replaceAll('_', ' ')
  return new GatewayError('not_found', `The provider has no ${kind} with the id that '${named.param}' names.`, {
    param: named.param,
    code: `${named.kind}_not_found`,
    cause: failure,
  })
}
