import {
  CAPACITY_UNITS,
  type Capacity,
  type CapacityUnit,
  type DeploymentSignals,
  PREFERRED_BY,
  PROBE_SECONDS,
  type Preference,
  RECENT_MS,
} from '../deployment-signals.ts'
import { LIFETIME_MS } from '../keys.ts'
import { milliseconds } from '../windows.ts'
import { readFlag, readNumber, readText, type ScriptReply } from './reply.ts'
import { inDigits } from './script.ts'

/** The state of one deployment and its rules. `in-process/deployment-state.ts` implements them in TypeScript; the
 *  differential suite compares both. A deployment has two keys: its hash and the sorted set of its attempts in flight. */
export const DEPLOYMENTS = `
local UNITS = { ${CAPACITY_UNITS.map((unit) => `'${unit}'`).join(', ')} }
local MEAN_WEIGHT = 0.3
local PREFERRED_BY = { ${PREFERRED_BY.map((by) => `'${by}'`).join(', ')} }
local NEAR_LIMIT = 0.9

local function readDeployment(hash, active)
  local h = call('HMGET', hash, 'failures', 'cooledUntil', 'probe', 'probed', 'latencyMs', 'firstTokenMs',
    'samples', 'sampledAt', 'lastError', 'lastErrorAt', 'lastSuccessAt', 'minuteEnds', unpack(UNITS))
  local state = {
    hash = hash, active = active, failures = numeric(h[1]), cooledUntil = numeric(h[2]), probe = h[3] or '',
    probed = h[4] == '1', latencyMs = h[5] or '0', firstTokenMs = h[6] or '0', samples = h[7] or '0',
    sampledAt = h[8] or '0', lastError = h[9] or '', lastErrorAt = h[10] or '0', lastSuccessAt = h[11] or '0',
    minuteEnds = numeric(h[12]), used = { unpack(h, 13) }
  }
  state.running = state.minuteEnds > now and state.minuteEnds <= now + 60000
  for i = 1, #UNITS do
    if not state.running or not state.used[i] then state.used[i] = '0' end
  end
  return state
end

local function probeInFlight(state)
  if state.inFlight == nil then
    state.inFlight = state.probe ~= '' and hasLease(state.active, state.probe)
  end
  return state.inFlight
end

local function inFlight(state)
  if not state.count then state.count = call('ZCOUNT', state.active, '(' .. now, '+inf') end
  return state.count
end

local function signalsOf(state)
  return {
    inFlight(state),
    state.failures, state.cooledUntil, probeInFlight(state) and 1 or 0,
    state.latencyMs, state.firstTokenMs, state.samples, state.sampledAt, state.lastError, state.lastErrorAt,
    state.lastSuccessAt, unpack(state.used)
  }
end

local function readPreference() return PREFERRED_BY[number()] end

local function readLimits()
  local limits = {}
  for i = 1, number() do
    limits[i] = { unit = number(), limit = number() }
  end
  return limits
end

local function availability(state, limits, attemptId)
  for i = 1, #limits do
    if tonumber(state.used[limits[i].unit]) >= limits[i].limit then return 'full' end
  end
  if state.cooledUntil > now and tonumber(state.lastErrorAt) <= now then return 'cooled' end
  if state.cooledUntil == 0 or state.failures == 0 then return 'free' end
  return probeInFlight(state) and state.probe ~= attemptId and 'probing' or 'half-open'
end

local function isStale(state, active)
  return active == 0 and now - math.max(tonumber(state.sampledAt), tonumber(state.lastErrorAt)) > ${RECENT_MS}
end

-- The lowest rank is preferred.
local function rankBy(preference, state, active, capacity)
  if preference == 'active' then return active end
  if preference == 'latency' then
    if tonumber(state.samples) == 0 or isStale(state, active) then return 0 end
    local firstTokenMs = tonumber(state.firstTokenMs)
    return firstTokenMs == 0 and tonumber(state.latencyMs) or firstTokenMs
  end
  local share = 0
  for i = 1, #capacity do
    local limit = capacity[i].limit
    share = math.max(share, limit == 0 and math.huge or tonumber(state.used[capacity[i].unit]) / limit)
  end
  if preference == 'headroom' then return share > NEAR_LIMIT and 1 or 0 end
  return share
end

local function mayProbeEarly(state) return not state.probed and not probeInFlight(state) end

-- Needed once a minute, with the begin of a new one, and when a cooldown begins.
local function touch(state)
  call('PEXPIRE', state.hash, math.max(${LIFETIME_MS.deployment}, state.cooledUntil - now))
end

local function usedFields(state, used)
  local fields = {}
  if not state.running then
    fields = { 'minuteEnds', now + 60000 }
  end
  for i = 1, #UNITS do
    if used[i] ~= 0 or not state.running then put(fields, UNITS[i], tonumber(state.used[i]) + used[i]) end
  end
  return fields
end

local function reserve(state, attemptId, leaseMs, probes)
  local fields = usedFields(state, { 1, 0, 0, 0, 0, 0 })
  if probes then
    leaseMs = math.min(leaseMs, ${milliseconds(PROBE_SECONDS)})
    put(fields, 'probe', attemptId)
    put(fields, 'probed', '1')
  end
  call('HSET', state.hash, unpack(fields))
  local isAlone = inFlight(state) == 0
  sweepLeases(state.active)
  call('ZADD', state.active, now + leaseMs, attemptId)
  if isAlone or not state.running or leaseMs > ${LIFETIME_MS.leases / 2} then
    call('PEXPIRE', state.active, math.max(leaseMs, ${LIFETIME_MS.leases}))
  end
  if not state.running then touch(state) end
end
`

/** The arguments that `readLimits` reads. */
export function limitsText(limits: Capacity, units?: readonly CapacityUnit[]): string {
  let text = ''
  let count = 0
  for (const name in limits) {
    const unit = name as CapacityUnit
    const limit = limits[unit]
    if (limit === undefined || (units && !units.includes(unit))) continue
    text += `,${CAPACITY_UNITS.indexOf(unit) + 1},${inDigits(limit)}`
    count += 1
  }
  return count + text
}

/** The argument that `readPreference` reads; 0 without a preference. */
export const preferenceCode = (preference: Preference | undefined): number =>
  preference ? PREFERRED_BY.indexOf(preference.by) + 1 : 0

/** Reads the reply of `signalsOf`. */
export function readSignals(reply: ScriptReply, deployment: string): DeploymentSignals {
  return {
    deployment,
    active: readNumber(reply),
    failures: readNumber(reply),
    cooledUntil: readNumber(reply),
    probing: readFlag(reply),
    latencyMs: readNumber(reply),
    firstTokenMs: readNumber(reply),
    samples: readNumber(reply),
    sampledAt: readNumber(reply),
    lastError: readText(reply),
    lastErrorAt: readNumber(reply),
    lastSuccessAt: readNumber(reply),
    used: readUsed(reply),
  }
}

/** In the order of the units. */
const readUsed = (reply: ScriptReply): Readonly<Record<CapacityUnit, number | undefined>> => ({
  requests: readNumber(reply) || undefined,
  tokens: readNumber(reply) || undefined,
  images: readNumber(reply) || undefined,
  audioSeconds: readNumber(reply) || undefined,
  characters: readNumber(reply) || undefined,
  rerankUnits: readNumber(reply) || undefined,
})
