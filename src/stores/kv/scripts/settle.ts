import { MOST_SERIES, sizeField } from '../counted-series.ts'
import type { DeploymentOutcome } from '../deployment-signals.ts'
import { countersKey, LIFETIME_MS, logKey, settledKey } from '../keys.ts'
import type { Cooled, Settlement } from '../shared-store.ts'
import { StoreUnavailable } from '../store-unavailable.ts'
import { milliseconds } from '../windows.ts'
import { YET_TO_BEGIN } from './admit-text.ts'
import { DEPLOYMENTS } from './deployments.ts'
import { isRead, readFlag, readNumber, type ScriptReply } from './reply.ts'
import { inDigits, luaScript, quoted, type Script } from './script.ts'
import { budgetKeys, deploymentKeys, type ScriptKey, slotKeys } from './script-keys.ts'

/** Settles a call once; later it only releases what the call holds. A budget that the store does not have is not created,
 *  since the database has its spend; one that was read from there since a settlement was missed has that spend too. */
const TEXT = `
local settled, callId, lateMs = key(), text(), number()
local repeated = false
if not call('SET', settled, now + ${LIFETIME_MS.settled}, 'PX', '${LIFETIME_MS.settled}', 'NX') then
  repeated = numeric(call('GET', settled)) > now
  if not repeated then call('SET', settled, now + ${LIFETIME_MS.settled}, 'PX', '${LIFETIME_MS.settled}') end
end

for _ = 1, number() do call('ZREM', key(), callId) end

for _ = 1, number() do
  local hash, holds, period, since, hold, spent = key(), key(), text(), text(), text(), number()
  local freed = hold == '0' and 0 or call('ZREM', holds, callId .. '|' .. hold) * tonumber(hold)
  local known = call('HMGET', hash, 'spent', 'period', 'held', 'readAt', 'since')
  if known[1] then
    local write = { 'held', math.max(0, numeric(known[3]) - freed), 'spent', known[1] }
    local adds = not repeated and (lateMs == 0 or numeric(known[4]) <= now - lateMs)
      and ((known[5] or '') == '' or known[5] == since)
    if adds and period > known[2] and not isYetToBegin(period) then
      write[4] = spent
      put(write, 'period', period)
    elseif adds and period == known[2] then
      write[4] = known[1] + spent
    end
    call('HSET', hash, unpack(write))
    -- The admission of a call that held it has given it a long life.
    if hold == '0' then call('PEXPIRE', hash, '${LIFETIME_MS.budget}') end
  end
end

local function mean(old, sample)
  old = tonumber(old)
  if sample == '' then return old end
  sample = tonumber(sample)
  return old == 0 and sample or old + MEAN_WEIGHT * (sample - old)
end

-- A series that is only now there has the amount. The bound of a bucket is no label to be left out.
local function count(counters, series, amount)
  if tonumber(call('HINCRBYFLOAT', counters, series, amount)) ~= tonumber(amount) then return end
  local size = '${sizeField('')}' .. string.match(series, '^[^{]*')
  if call('HINCRBY', counters, size, 1) <= ${MOST_SERIES} then return end
  call('HINCRBY', counters, size, -1)
  call('HDEL', counters, series)
  local other = string.gsub(string.gsub(series, '\\\\.', ''), '([%w_]+)="[^"]*"', function(label)
    return label ~= 'le' and label .. '="other"' or nil
  end)
  call('HINCRBYFLOAT', counters, other, amount)
end

local cooled = { '1' }
for i = 1, number() do
  local state = readDeployment(key(), key())
  local attemptId, result = text(), text()
  local latencyMs, firstTokenMs, err = text(), text(), text()
  local allowedFails, cooldownMs, unusedSince = number(), number(), text()
  local used, usesAny = sized(#UNITS), false
  for unit = 1, #UNITS do
    used[unit] = number()
    usesAny = usesAny or used[unit] ~= 0
  end
  local ends = result ~= 'committed'
  if repeated then
    result, usesAny = ends and 'neutral' or '', false
    if not ends then unusedSince = '' end
  end
  -- An unused request is subtracted from the minute in which it was counted.
  local sameMinute = unusedSince ~= '' and state.running and unusedSince + 60000 >= state.minuteEnds
  if sameMinute and hasLease(state.active, attemptId) then
    state.used[1] = math.max(0, tonumber(state.used[1]) - 1)
    call('HSET', state.hash, UNITS[1], state.used[1])
  end
  if ends then call('ZREM', state.active, attemptId) end
  local fields = usesAny and usedFields(state, used) or {}
  local ownProbe = state.probe == attemptId
  -- A commit that is reported after its attempt ended is ignored.
  local recovers = result == 'succeeded' or result == 'released'
    or (result == 'committed' and hasLease(state.active, attemptId))
  if recovers then
    if state.failures ~= 0 then put(fields, 'failures', '0') end
    if state.cooledUntil ~= 0 then put(fields, 'cooledUntil', '0') end
    if state.probed then put(fields, 'probed', '0') end
    state.cooledUntil = 0
  end
  if state.probe ~= '' and (recovers or (ownProbe and ends)) then put(fields, 'probe', '') end
  if result == 'neutral' then
    if ownProbe then put(fields, 'probed', '0') end
  elseif result == 'failed' then
    if tonumber(state.lastErrorAt) > now then
      state.cooledUntil = 0
      put(fields, 'cooledUntil', '0')
    end
    put(fields, 'failures', state.failures + 1)
    put(fields, 'lastError', err)
    put(fields, 'lastErrorAt', now)
    if cooldownMs > 0 and state.failures + 1 > allowedFails then
      if state.cooledUntil <= now then
        cooled[#cooled + 1] = i - 1
        cooled[#cooled + 1] = now + cooldownMs
        cooled[#cooled + 1] = state.failures + 1
      end
      state.cooledUntil = math.max(state.cooledUntil, now + cooldownMs)
      put(fields, 'cooledUntil', state.cooledUntil)
    end
  elseif result == 'succeeded' then
    put(fields, 'latencyMs', mean(state.latencyMs, latencyMs))
    put(fields, 'firstTokenMs', mean(state.firstTokenMs, firstTokenMs))
    if latencyMs ~= '' then
      put(fields, 'samples', tonumber(state.samples) + 1)
      put(fields, 'sampledAt', now)
    end
    put(fields, 'lastSuccessAt', now)
  end
  if #fields > 0 then call('HSET', state.hash, unpack(fields)) end
  if not state.running or result == 'failed' then touch(state) end
end

for _ = 1, number() do
  local lead, unkeptMs = key(), number()
  local ends, owner = string.match(call('GET', lead) or '', '^%d+|(%d+)|(.*)$')
  if owner == callId and tonumber(ends) > now then
    if unkeptMs > 0 then
      call('SET', lead, now .. '|' .. (now + unkeptMs) .. '|', 'PX', unkeptMs)
    else
      call('DEL', lead)
    end
  end
end

if repeated then return { '0' } end

local counted = number()
if counted > 0 then
  local counters = key()
  for _ = 1, counted do count(counters, text(), text()) end
end

for _ = 1, number() do
  local log, entry, keep = key(), text(), number()
  call('LPUSH', log, entry)
  call('LTRIM', log, 0, keep - 1)
  call('PEXPIRE', log, '${LIFETIME_MS.log}')
end

for _ = 1, number() do
  local name, value, lifeMs, most = key(), text(), text(), number()
  local fits = true
  if most > 0 then
    local meter = key()
    fits = numeric(call('GET', meter)) + #value <= most
    if fits and call('INCRBY', meter, #value) == #value then call('PEXPIRE', meter, lifeMs) end
  end
  if fits then call('SET', name, value, 'PX', lifeMs) end
end
return cooled
`

function encode(outcome: Settlement): { keys: ScriptKey[]; args: string } {
  const { callId, slots, budgets, outcomes, counters, entries, lead, values = [] } = outcome
  const keys: ScriptKey[] = [settledKey(outcome.id ?? callId)]
  let args = `${quoted(callId)},${inDigits(outcome.lateMs ?? 0)},${slots.length}`
  for (const subject of slots) keys.push(slotKeys(subject))

  args += `,${budgets.length}`
  let last: Settlement['budgets'][number] | undefined
  let charge = ''
  for (const budget of budgets) {
    keys.push(budgetKeys(budget.subject))
    if (!last || !isChargedAlike(budget, last)) charge = chargeText(budget)
    last = budget
    args += charge
  }

  args += `,${outcomes.length}`
  for (const ended of outcomes) {
    keys.push(deploymentKeys(ended.deployment))
    args += `,${outcomeText(ended)}`
  }

  args += lead ? `,1,${inDigits(milliseconds(lead.unkeptSeconds))}` : ',0'
  if (lead) keys.push(lead.key)

  const counted = Object.entries(counters)
  if (counted.length > 0) keys.push(countersKey())
  args += `,${counted.length}`
  for (const [name, amount] of counted) args += `,${quoted(name)},"${inDigits(amount)}"`

  args += `,${entries.length}`
  for (const { log, text, keep } of entries) {
    keys.push(logKey(log))
    args += `,${quoted(text)},${inDigits(keep)}`
  }

  args += `,${values.length}`
  for (const { key, text, ttlSeconds, meter } of values) {
    keys.push(key)
    args += `,${quoted(text)},"${inDigits(Math.max(1, milliseconds(ttlSeconds)))}",${inDigits(meter?.most ?? 0)}`
    if (meter) keys.push(meter.key)
  }
  return { keys, args }
}

function chargeText({ period, since = '', holdNano, spentNano }: Settlement['budgets'][number]): string {
  return `,${quoted(period)},${quoted(since)},"${inDigits(holdNano)}",${inDigits(spentNano)}`
}

/** Most calls charge the same to every budget. */
const isChargedAlike = (one: Settlement['budgets'][number], other: Settlement['budgets'][number]): boolean =>
  one.period === other.period &&
  one.since === other.since &&
  one.holdNano === other.holdNano &&
  one.spentNano === other.spentNano

function outcomeText(outcome: DeploymentOutcome): string {
  const { attemptId, result, used, latencyMs, firstTokenMs, error = '', cooldown, unusedSince } = outcome
  const { allowedFails, seconds } = cooldown
  const { requests, tokens, images, audioSeconds, characters, rerankUnits } = used
  return (
    `${quoted(attemptId)},"${result}",${ifAny(latencyMs)},${ifAny(firstTokenMs)},${quoted(error)}` +
    `,${inDigits(allowedFails)},${inDigits(milliseconds(seconds))},${ifAny(unusedSince)}` +
    // In the order of the units.
    `,${inDigits(requests ?? 0)},${inDigits(tokens ?? 0)},${inDigits(images ?? 0)}` +
    `,${inDigits(audioSeconds ?? 0)},${inDigits(characters ?? 0)},${inDigits(rerankUnits ?? 0)}`
  )
}

const ifAny = (amount: number | undefined): string => (amount === undefined ? '""' : inDigits(amount))

function decode(reply: ScriptReply, { outcomes }: Settlement): readonly Cooled[] | undefined {
  readFlag(reply)
  if (isRead(reply)) return undefined
  const cooled: Cooled[] = []
  while (!isRead(reply)) {
    const outcome = outcomes[readNumber(reply)]
    if (!outcome) throw new StoreUnavailable('nonsense')
    cooled.push({ deployment: outcome.deployment, until: readNumber(reply), failures: readNumber(reply) })
  }
  return cooled
}

export const settleScript: Script<Settlement, readonly Cooled[] | undefined> = {
  text: luaScript(DEPLOYMENTS, YET_TO_BEGIN, TEXT),
  encode,
  decode,
}
