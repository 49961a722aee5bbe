import { tokensOfCharacters } from '../../modes/usage.ts'
import type { Caller } from '../../pipeline/caller.ts'
import { expiringMap } from '../../stores/kv/in-process/expiring-map.ts'
import type { Room } from './executor.ts'

/** The part of each limit that items leave to their key's other calls. */
const LEFT_SHARE = 0.1
const KEYS_KEPT = 2000
const DAY_MS = 86_400_000

/** The state of the tightest limit of one unit. */
interface Window {
  readonly limit: number
  /** The remainder when it was last reported, less what has started since. */
  left: number
  /** Milliseconds since 1970. */
  readonly resetsAt: number
}

/** How much of a key's limits the items of its batches may use now. */
export interface Headroom {
  room(caller: Caller, bytes: number, running: number): Room
  started(caller: Caller, bytes: number): void
  /** The headers of an answer or a refusal. */
  learn(caller: Caller, headers: Readonly<Record<string, string>>): void
}

const UNITS = ['requests', 'tokens'] as const
type Unit = (typeof UNITS)[number]

/** Learns from the headers of answers how much of a key's windows is left. Items that started after an answer was
 *  admitted are deducted twice for a moment: the estimate may be too low, but is not too high for long. */
export function headroom(now: () => number): Headroom {
  const windows = expiringMap<Partial<Record<Unit, Window>>>(now, KEYS_KEPT)
  const of = ({ keyId = '' }: Caller) => windows.get(keyId)
  const costs = (bytes: number) => ({ requests: 1, tokens: tokensOfCharacters(bytes) })

  return {
    room(caller, bytes, running) {
      const [slot] = caller.slots
      if (slot && running >= Math.max(1, Math.floor(slot.limit * (1 - LEFT_SHARE)))) return 'later'
      if (caller.quotas.length === 0) return 'now'
      const known = of(caller)
      const cost = costs(bytes)
      // No window ever has room for it: its refusal is its result.
      if (caller.quotas.some(({ unit, limit }) => limit > 0 && cost[unit] > limit)) return 'now'
      const time = now()
      let waitMs = 0
      for (const unit of UNITS) {
        if (!caller.quotas.some((quota) => quota.unit === unit)) continue
        const window = known?.[unit]
        if (!window || window.resetsAt <= time) {
          if (running > 0) return 'later'
          continue
        }
        if (window.left - cost[unit] < window.limit * LEFT_SHARE) waitMs = Math.max(waitMs, window.resetsAt - time)
      }
      return waitMs > 0 ? waitMs : 'now'
    },
    started(caller, bytes) {
      const known = of(caller)
      const cost = costs(bytes)
      for (const unit of UNITS) {
        const window = known?.[unit]
        if (window) window.left -= cost[unit]
      }
    },
    learn(caller, headers) {
      if (caller.quotas.length === 0) return
      const time = now()
      const known = of(caller) ?? {}
      windows.set(caller.keyId ?? '', known, time + DAY_MS)
      for (const unit of UNITS) {
        const [limit, left, reset] = ['limit', 'remaining', 'reset'].map(
          (name) => headers[`x-ratelimit-${name}-${unit}`],
        )
        if (limit === undefined || left === undefined || reset === undefined) continue
        const before = known[unit]
        const resetsAt = 1000 * Number(reset)
        // Answers of one window may arrive out of order: the smallest remainder is the newest.
        const isSame = before !== undefined && before.resetsAt > time && Math.abs(before.resetsAt - resetsAt) < 1500
        const remaining = Number(left)
        known[unit] = { limit: Number(limit), left: isSame ? Math.min(before.left, remaining) : remaining, resetsAt }
      }
    },
  }
}
