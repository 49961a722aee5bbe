import { type Abort, unlessAborted } from '../../lib/abort.ts'
import { elapsedMs } from '../../lib/clock.ts'
import type { ToolListing } from './list-tools.ts'

/** The age at which a list is fetched anew. */
const TTL_MS = 60_000
/** The age at which a list is too old to use, for a server that answers no more. */
const USELESS_MS = 10 * TTL_MS
/** How long a server is left alone after it failed to list its tools. */
export const REST_MS = 5000
/** A renewal that belongs to a request and takes longer may have been killed by the runtime, together with its request. */
const KILLED_AFTER_MS = TTL_MS

/** The tools of one server, as it last listed them. A list that is known is returned at once, also while a newer one is
 *  fetched, of which there is one fetching at a time. Without a list, a server that was asked in vain for as long as it
 *  may take is left alone; then one asks it again, and only the others are refused at once. */
export interface KeptList {
  /** `via`: the gateways through which the question has come. */
  get(signal: Abort, via?: string): Promise<ToolListing>
  /** The last list, however old. */
  last(): ToolListing | undefined
  /** The server says that its list is another one now. */
  changed(): void
}

export function keptList({
  fetch,
  now,
  defer,
  failed,
  hung,
}: {
  /** Fetches under the signal of whoever waits, if there is one, and under a time limit of its own. */
  readonly fetch: (via?: string, signal?: Abort) => Promise<ToolListing>
  readonly now: () => number
  /** Given where a promise belongs to the request that began it. */
  readonly defer: ((work: Promise<void>) => void) | undefined
  /** Called when a list could not be renewed. */
  readonly failed: (error: unknown) => void
  /** The failure of those who come while the server is left alone after this one; undefined for one that came at once,
   *  after which anybody may ask again. */
  readonly hung: (error: unknown) => Error | undefined
}): KeptList {
  let kept: { readonly listing: ToolListing; readonly at: number; readonly changes: number } | undefined
  let changes = 0
  let fetching: Promise<ToolListing> | undefined
  let renewing: { readonly since: number } | undefined
  let restsSince = Number.NEGATIVE_INFINITY
  /** Set from a fetching that hung to the next one that does not. */
  let broken: Error | undefined

  async function fetched(via?: string, signal?: Abort): Promise<ToolListing> {
    // A list that changes while it is fetched is fetched again.
    const before = changes
    try {
      const listing = await fetch(via, signal)
      kept = { listing, at: now(), changes: before }
      broken = undefined
      return listing
    } catch (error) {
      // That a client left says nothing of the server.
      if (!signal?.aborted) {
        broken = hung(error)
        if (broken) restsSince = now()
      }
      throw error
    }
  }

  const rests = () => elapsedMs(restsSince, now()) < REST_MS
  const renews = () => renewing !== undefined && !(defer && elapsedMs(renewing.since, now()) > KILLED_AFTER_MS)

  /** The first list, or the next one after the last has become useless. */
  function first(signal: Abort, via?: string): Promise<ToolListing> {
    if (broken) {
      if (fetching || rests()) return Promise.reject(broken)
      // Also where the one that asks may be killed: the next one's turn is later than that.
      restsSince = now()
    }
    return defer ? fetched(via, signal) : unlessAborted(shared(via), signal)
  }

  /** One fetching for all who wait. */
  function shared(via?: string): Promise<ToolListing> {
    if (!fetching) {
      fetching = fetched(via).finally(() => {
        fetching = undefined
      })
      fetching.catch(() => {})
    }
    return fetching
  }

  async function renew(via?: string): Promise<void> {
    const own = { since: now() }
    renewing = own
    try {
      await (defer ? fetched(via) : shared(via))
    } catch (error) {
      restsSince = now()
      failed(error)
    } finally {
      if (renewing === own) renewing = undefined
    }
  }

  return {
    async get(signal, via) {
      // After the clock was set back nobody knows how old the list is: it is fetched anew, and is of use meanwhile.
      if (kept && kept.at > now()) kept = { ...kept, at: now() - 2 * TTL_MS }
      if (!kept || now() - kept.at > USELESS_MS) return first(signal, via)
      const old = kept.changes !== changes || now() - kept.at > TTL_MS
      if (old && !renews() && !rests()) {
        const work = renew(via)
        defer?.(work)
      }
      return kept.listing
    },
    last: () => kept?.listing,
    changed() {
      changes += 1
    },
  }
}
