import type { ScriptReply } from './reply.ts'
import type { ScriptKey } from './script-keys.ts'

export type Argument = string | number

/** Arguments of a script as the text of a JSON array, without its brackets. */
export const written = (args: readonly Argument[]): string =>
  args.map((one) => (typeof one === 'number' ? inDigits(one) : quoted(one))).join(',')

/** A text in JSON. Redis refuses one with a lone surrogate. */
export const quoted = (text: string): string => JSON.stringify(text.toWellFormed())

/** A number as text, because Lua prints only fourteen digits. Refuses NaN, which would stay in the store. */
export function inDigits(amount: number): string {
  if (!Number.isFinite(amount)) throw new RangeError('a number for the store is not finite')
  return String(amount)
}

/** A method of the store as one Lua script, with the encoding of its input and the decoding of its reply. The script touches
 *  only the given keys, and replies fractions as text, because Redis cuts Lua numbers to integers. */
export interface Script<Input, Output> {
  readonly text: string
  encode(input: Input): { readonly keys: readonly ScriptKey[]; readonly args: string }
  decode(reply: ScriptReply, input: Input): Output
}
/** The time, and functions that read keys and arguments in order. ARGV[1] is the clock, or empty for the server's. ARGV[2]
 *  has all arguments as one JSON array, which is cheaper than separate arguments. */
const PRELUDE = `
local call, keyAt, argumentAt, arguments = redis.call, 0, 0, cjson.decode(ARGV[2])
local function key() keyAt = keyAt + 1 return KEYS[keyAt] end
local function text() argumentAt = argumentAt + 1 return arguments[argumentAt] end
local number = text
-- A table that is filled later up to its size. One that grows is copied again and again.
local function sized(size) return { unpack(arguments, 1, size) } end
local function numeric(reply) return tonumber(reply or 0) or 0 end

local now = tonumber(ARGV[1])
if not now then
  local time = call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local function put(fields, field, value)
  local at = #fields
  fields[at + 1], fields[at + 2] = field, value
end
-- Whether a key that expires then needs no longer life yet: to expire is a command of its own.
local function lastsLong(expiresAt, lifeMs) return expiresAt > now + 0.9 * lifeMs end
local function hasLease(leases, id) return numeric(call('ZSCORE', leases, id)) > now end
local function sweepLeases(leases) call('ZREMRANGEBYSCORE', leases, '-inf', now) end
`

export const luaScript = (...parts: readonly string[]) => [PRELUDE, ...parts].join('')
