import { GatewayError } from './errors.ts'
import { type Link, ring } from './ring.ts'

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

/** All that one owner takes. */
interface Owner {
  readonly name: string
  bytes: number
}

interface Taken extends Footprint, Link {
  readonly openedAt: number
  /** Known while it takes something. */
  owner: Owner | undefined
  bytes: number
}

/** Owners who take nothing are forgotten when there are so many of them, and more than take something. */
const IDLE_OWNERS = 1000

/** A request that is alone always finds room: of a bound that is smaller than a body allows, the body is the measure. */
export function footprints(bounds: { readonly total: number; readonly owner: number }, now: () => number): Footprints {
  const owners = new Map<string, Owner>()
  const open = ring<Taken>()
  let idle = 0
  let total = 0

  function ownerOf(name: string): Owner {
    let owner = owners.get(name)
    if (!owner) {
      if (idle > IDLE_OWNERS && idle > owners.size / 2) forgetIdle()
      owner = { name, bytes: 0 }
      owners.set(name, owner)
      idle += 1
    }
    return owner
  }

  function forgetIdle(): void {
    for (const { name, bytes } of owners.values()) if (bytes === 0) owners.delete(name)
    idle = 0
  }

  function count(owner: Owner, more: number): void {
    if (owner.bytes === 0) idle -= 1
    owner.bytes += more
    if (owner.bytes === 0) idle += 1
    total += more
  }

  function give(taken: Taken): void {
    const { owner, bytes } = taken
    if (!owner) return
    open.remove(taken)
    taken.owner = undefined
    taken.bytes = 0
    count(owner, -bytes)
  }

  function forget(): void {
    const before = now() - FORGOTTEN_MS
    for (let taken = open.first(); taken && taken.openedAt <= before; taken = open.first()) give(taken)
  }

  const fits = (owned: number, own: number, more: number): boolean => {
    const ownerFits = owned === own || owned + more <= bounds.owner
    return ownerFits && (total === own || total + more <= bounds.total)
  }

  return {
    open(name) {
      let released = false
      const taken: Taken = {
        openedAt: now(),
        owner: undefined,
        bytes: 0,
        before: undefined,
        after: undefined,
        add(bytes) {
          if (released || bytes === 0) return
          const owner = taken.owner ?? ownerOf(name)
          if (!fits(owner.bytes, taken.bytes, bytes)) {
            forget()
            if (!fits(owner.bytes, taken.bytes, bytes)) throw overloaded()
          }
          if (!taken.owner) open.add(taken)
          taken.owner = owner
          taken.bytes += bytes
          count(owner, bytes)
        },
        release() {
          released = true
          give(taken)
        },
      }
      return taken
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
