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
  /** Opens the empty footprint of a request of `owner`. */
  open(owner: string): Footprint
  /** The bytes of all footprints. */
  readonly total: number
}

/** The time after which a request counts as ended. A runtime that kills a request with its client never reports its
 *  end; no call lasts this long. */
const ABANDONED_MS = 900_000

const RETRY_SECONDS = 2

/** The memory of all requests of one owner. */
interface Owner {
  readonly name: string
  bytes: number
}

interface Held extends Footprint, Link {
  readonly openedAt: number
  /** Set while the request holds memory. */
  owner: Owner | undefined
  bytes: number
}

/** Owners without memory are dropped if there are more than this, and more than there are owners with memory. */
const IDLE_OWNERS = 1000

/** Limits the memory of one owner and of all requests. A request that is the only one of its owner, or the only one of
 *  all, is not limited by that bound: the limit of a body's length applies. */
export function footprints(bounds: { readonly total: number; readonly owner: number }, now: () => number): Footprints {
  const owners = new Map<string, Owner>()
  const open = ring<Held>()
  let idle = 0
  let total = 0

  function ownerOf(name: string): Owner {
    let owner = owners.get(name)
    if (!owner) {
      if (idle > IDLE_OWNERS && idle > owners.size / 2) dropIdle()
      owner = { name, bytes: 0 }
      owners.set(name, owner)
      idle += 1
    }
    return owner
  }

  function dropIdle(): void {
    for (const { name, bytes } of owners.values()) if (bytes === 0) owners.delete(name)
    idle = 0
  }

  function count(owner: Owner, more: number): void {
    if (owner.bytes === 0) idle -= 1
    owner.bytes += more
    if (owner.bytes === 0) idle += 1
    total += more
  }

  function releaseHeld(held: Held): void {
    const { owner, bytes } = held
    if (!owner) return
    open.remove(held)
    held.owner = undefined
    held.bytes = 0
    count(owner, -bytes)
  }

  function releaseAbandoned(): void {
    const before = now() - ABANDONED_MS
    for (let held = open.first(); held && held.openedAt <= before; held = open.first()) releaseHeld(held)
  }

  const fits = (owned: number, own: number, more: number): boolean => {
    const ownerFits = owned === own || owned + more <= bounds.owner
    return ownerFits && (total === own || total + more <= bounds.total)
  }

  return {
    open(name) {
      let released = false
      const held: Held = {
        openedAt: now(),
        owner: undefined,
        bytes: 0,
        before: undefined,
        after: undefined,
        add(bytes) {
          if (released || bytes === 0) return
          const owner = held.owner ?? ownerOf(name)
          if (!fits(owner.bytes, held.bytes, bytes)) {
            releaseAbandoned()
            if (!fits(owner.bytes, held.bytes, bytes)) throw overloaded()
          }
          if (!held.owner) open.add(held)
          held.owner = owner
          held.bytes += bytes
          count(owner, bytes)
        },
        release() {
          released = true
          releaseHeld(held)
        },
      }
      return held
    },
    get total() {
      return total
    },
  }
}

/** Adds bytes. Without memory for them releases everything at once and throws: of many requests that grow together some
 *  come to their end. */
export function addOrRelease(footprint: Footprint, bytes: number): void {
  try {
    footprint.add(bytes)
  } catch (error) {
    footprint.release()
    throw error
  }
}

function overloaded(): GatewayError {
  const message = 'The memory for request bodies and unread answers is used up. Read the answers, or retry later.'
  return new GatewayError('overloaded', message, { retryAfterSeconds: RETRY_SECONDS })
}
