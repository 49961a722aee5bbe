import type { Key } from '../keys.ts'
import { StoreUnavailable } from '../shared-store.ts'

export type Argument = string | number

/** One verb as one Lua script: how its input becomes keys and arguments, and its reply the verb's answer. Every key that
 *  the script touches is among the keys; fractions are replied as text, because Lua replies cut numbers to integers. */
export interface Script<Input, Output> {
  readonly text: string
  encode(input: Input): { readonly keys: readonly Key[]; readonly args: readonly Argument[] }
  decode(reply: Reply, input: Input): Output
}

/** Time, and the keys and arguments one after the other. The first argument is the clock: empty for the server's own. */
const PRELUDE = `
local call, keyAt, argumentAt = redis.call, 0, 0
local function key() keyAt = keyAt + 1 return KEYS[keyAt] end
local function text() argumentAt = argumentAt + 1 return ARGV[argumentAt] end
local function number() return tonumber(text()) end
local function numeric(reply) return tonumber(reply or 0) or 0 end

local now = number()
if not now then
  local time = call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local function hasLease(leases, id) return numeric(call('ZSCORE', leases, id)) > now end
local function sweepLeases(leases) call('ZREMRANGEBYSCORE', leases, '-inf', now) end
`

export const luaScript = (...parts: readonly string[]) => [PRELUDE, ...parts].join('')

/** A reply, read one after the other. Anything else than expected is nonsense, not a crash. */
export interface Reply {
  text(): string
  number(): number
  flag(): boolean
  list(): Reply
  readonly left: number
}

export function readReply(reply: unknown): Reply {
  if (!Array.isArray(reply)) throw new StoreUnavailable('nonsense')
  const items: readonly unknown[] = reply
  let at = 0
  function text(): string {
    const item = items[at++]
    if (typeof item === 'string') return item
    if (typeof item === 'number') return String(item)
    throw new StoreUnavailable('nonsense')
  }
  function number(): number {
    const item = text()
    const value = Number(item)
    if (item === '' || !Number.isFinite(value)) throw new StoreUnavailable('nonsense')
    return value
  }
  return {
    text,
    number,
    flag: () => number() !== 0,
    list: () => readReply(items[at++]),
    get left() {
      return items.length - at
    },
  }
}
