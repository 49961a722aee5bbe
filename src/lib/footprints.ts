import { GatewayError } from './errors.ts'

/** The memory that one request occupies: its body, and the part of its answer that the client has not read. */
export interface Footprint {
  /** Adds bytes. Throws `overloaded`, and adds nothing, if there is no memory for them. */
  add(bytes: number): void
  /** Releases everything. */
  release(): void
}

/** The memory of all requests, by owner and in total. */
export interface Footprints {
  /** Of a request of `owner`, which takes nothing yet. */
  open(owner: string): Footprint
  /** What all of them take. */
  readonly total: number
}

/** The time after which a request counts as ended. A runtime that kills a request with its client never reports its end; no
 *  call lasts this long. */
const FORGOTTEN_MS = 900_000

const RETRY_SECONDS = 2

interface Taken {
  readonly owner: string
  readonly openedAt: number
  bytes: number
}

/** A request that is alone always finds room: of a bound that is smaller than a body allows, the body is the measure. */
export function footprints(bounds: { readonly total: number; readonly owner: number }, now: () => number): Footprints {
  const owners = new Map<string, number>()
  const open = new Set<Taken>()
  let total = 0

  function give(taken: Taken): void {
    if (!open.delete(taken)) return
    const left = (owners.get(taken.owner) ?? 0) - taken.bytes
    if (left > 0) owners.set(taken.owner, left)
    else owners.delete(taken.owner)
    total -= taken.bytes
    taken.bytes = 0
  }

  function forget(): void {
    const before = now() - FORGOTTEN_MS
    for (const taken of open) {
      if (taken.openedAt > before) break
      give(taken)
    }
  }

  const fits = ({ owner, bytes: own }: Taken, more: number): boolean => {
    const owned = owners.get(owner) ?? 0
    const ownerFits = owned === own || owned + more <= bounds.owner
    return ownerFits && (total === own || total + more <= bounds.total)
  }

  return {
    open(owner) {
      const taken: Taken = { owner, openedAt: now(), bytes: 0 }
      let released = false
      return {
        add(bytes) {
          if (released || bytes === 0) return
          if (!fits(taken, bytes)) {
            forget()
            if (!fits(taken, bytes)) throw overloaded()
          }
          open.add(taken)
          taken.bytes += bytes
          owners.set(owner, (owners.get(owner) ?? 0) + bytes)
          total += bytes
        },
        release() {
          released = true
          give(taken)
        },
      }
    },
    get total() {
      return total
    },
  }
}

function overloaded(): GatewayError {
  const message =
    'Requests and answers on their way take all the memory that they may. Take the answers, or retry later.'
  return new GatewayError('overloaded', message, { retryAfterSeconds: RETRY_SECONDS })
}
