import type { Key } from '../keys.ts'
import { StoreUnavailable } from '../shared-store.ts'

export type Argument = string | number | Prepared

/** Encoded arguments that many calls share. */
export interface Prepared {
  readonly text: string
}

export const prepared = (args: readonly Argument[]): Prepared => ({ text: args.map(written).join(',') })

/** All arguments as one JSON array. */
export const inOneText = (args: readonly Argument[]): string => `[${prepared(args).text}]`

function written(argument: Argument): string {
  if (typeof argument === 'number') return inDigits(argument)
  // Redis refuses JSON with a lone surrogate.
  return typeof argument === 'string' ? JSON.stringify(argument.toWellFormed()) : argument.text
}

/** A number as text, because Lua prints only fourteen digits. Refuses NaN, which would stay in the store. */
export function inDigits(amount: number): string {
  if (!Number.isFinite(amount)) throw new RangeError('a number for the store is not finite')
  return String(amount)
}

/** A method of the store as one Lua script, with the encoding of its input and the decoding of its reply. The script touches
 *  only the given keys, and replies fractions as text, because Redis cuts Lua numbers to integers. */
export interface Script<Input, Output> {
  readonly text: string
  encode(input: Input): { readonly keys: readonly Key[]; readonly args: readonly Argument[] }
  decode(reply: Reply, input: Input): Output
}

/** The time, and functions that read keys and arguments in order. ARGV[1] is the clock, or empty for the server's. ARGV[2]
 *  has all arguments as one JSON array, which is cheaper than separate arguments. */
const PRELUDE = `
local call, keyAt, argumentAt, arguments = redis.call, 0, 0, cjson.decode(ARGV[2])
local function key() keyAt = keyAt + 1 return KEYS[keyAt] end
local function text() argumentAt = argumentAt + 1 return arguments[argumentAt] end
local number = text
local function numeric(reply) return tonumber(reply or 0) or 0 end

local now = tonumber(ARGV[1])
if not now then
  local time = call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local function hasLease(leases, id) return numeric(call('ZSCORE', leases, id)) > now end
local function sweepLeases(leases) call('ZREMRANGEBYSCORE', leases, '-inf', now) end
`

export const luaScript = (...parts: readonly string[]) => [PRELUDE, ...parts].join('')

/** Reads the items of a reply in order. An unexpected item throws `StoreUnavailable`. */
export interface Reply {
  text(): string
  number(): number
  flag(): boolean
  list(): Reply
  /** A list of numbers alone. */
  numbers(): number[]
  /** The number of items not yet read. */
  left(): number
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
  const number = () => asNumber(items[at++])
  return {
    text,
    number,
    flag: () => number() !== 0,
    list: () => readReply(items[at++]),
    numbers: () => allNumbers(items[at++]),
    left: () => items.length - at,
  }
}

function allNumbers(reply: unknown): number[] {
  if (!Array.isArray(reply)) throw new StoreUnavailable('nonsense')
  return reply.map(asNumber)
}

function asNumber(item: unknown): number {
  const value = typeof item === 'string' && item !== '' ? Number(item) : item
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new StoreUnavailable('nonsense')
  return value
}
