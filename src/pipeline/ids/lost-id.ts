import { GatewayError } from '../../lib/errors.ts'
import type { Bounds } from '../plan/plan.ts'

/** Statuses for objects that a provider lacks or does not show. */
const ABOUT_IDS: ReadonlySet<number> = new Set([400, 403, 404, 410])

/** Shorter ids occur in answers by chance. */
const SHORTEST_ID = 8

const decoder = new TextDecoder()

/** A failure that mentions an id of the request is the request's fault, whatever the vendor calls it. */
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
