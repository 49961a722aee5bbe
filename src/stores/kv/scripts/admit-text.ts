import { LIFETIME_MS } from '../keys.ts'

/** The unit and window of quotas; arguments refer to them by index. */
export const COUNTED = (['requests', 'tokens'] as const).flatMap((unit) =>
  (['minute', 'hour', 'day'] as const).map((window) => ({ unit, window })),
)

/** When a window that is opened now ends, and whether one is open, as in `windows.ts`. */
export const WINDOW_END = `
local function windowEnd(window)
  if window == 'minute' then return now + 60000 end
  local length = window == 'hour' and 3600000 or 86400000
  return math.floor(now / length) * length + length
end
local function isOpen(window, ends) return ends > now and ends <= windowEnd(window) end
`

/** Whether a period of a budget is yet to begin, as in `windows.ts`. */
export const YET_TO_BEGIN = `
local function isYetToBegin(period)
  local year, month, day, hour, minute, second = string.match(period, '^(%d+)-(%d+)-(%d+)T(%d+):(%d+):([%d.]+)Z$')
  if not year then return false end
  -- Years that begin in March.
  local early = math.floor((14 - month) / 12)
  local years = year + 4800 - early
  local leaps = math.floor(years / 4) - math.floor(years / 100) + math.floor(years / 400)
  local days = day + math.floor((153 * (month + 12 * early - 3) + 2) / 5) + 365 * years + leaps - 2472633
  return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 > now
end
`

/** Decides a call: everything is checked before anything is written. `in-process/admit.ts` implements it in TypeScript.
 *  Items are referred to by their index in the admission. */
export const ADMIT = `
local callId, attemptId, leaseMs = text(), text(), number()
local leaseEnd = now + leaseMs
local leasesExpire = math.max(leaseMs, ${LIFETIME_MS.leases})

local stale, unknown = {}, {}

local versions, remembered, versionKeys = {}, {}, {}
for i = 1, number() do
  versionKeys[i] = key()
  versions[i] = text()
  remembered[i] = number() == 1
end
if #versions > 0 then
  local known = call('MGET', unpack(versionKeys))
  for i = 1, #versions do
    local difference = numeric(known[i]) - tonumber(versions[i])
    local lost = remembered[i] and not known[i] and difference < 0
    if difference > 0 or lost then stale[#stale + 1] = i - 1 end
    if difference >= 0 then versions[i] = false end
  end
end

local COUNTED = { ${COUNTED.map(({ unit, window }) => `{ '${unit}', '${window}' }`).join(', ')} }
local costs = { requests = 1, tokens = number() }
local counters = {}
for i = 1, number() do
  counters[i] = { key = key(), fields = {} }
end
local quotas = {}
for i = 1, number() do
  local subject, counted, limit = counters[number()], COUNTED[number()], number()
  local unit, window = counted[1], counted[2]
  local quota = { subject = subject, field = unit .. ':' .. window, window = window, limit = limit, cost = costs[unit] }
  local fields = quota.subject.fields
  quota.at = #fields + 1
  fields[quota.at] = quota.field
  fields[quota.at + 1] = quota.field .. ':ends'
  quotas[i] = quota
end

local slots = {}
for i = 1, number() do
  slots[i] = { key = key(), limit = number() }
end

local looked, answers = {}, number()
local clearings, maxAge, leadMs
if answers > 0 then
  clearings, maxAge, leadMs = number(), number(), number()
  for i = 1, answers + clearings + 1 do looked[i] = key() end
end

local budgets = {}
for i = 1, number() do
  local budget = { hash = key(), holds = key(), limit = number(), hold = text(),
    likely = number(), period = text(), since = text(), seed = text(), own = {} }
  for j = 1, number() do budget.own[j] = text() end
  local known = call('HMGET', budget.hash, 'spent', 'period', 'held')
  budget.member = callId .. '|' .. budget.hold
  budget.hold = tonumber(budget.hold)
  -- By another clock than this one it is another period's time.
  local isPast = known[1] and budget.period < known[2]
  local isEarly = known[1] and budget.period > known[2] and isYetToBegin(budget.period)
  -- Opened before the clock was set back.
  local isOver = isPast and isYetToBegin(known[2])
  budget.new = not known[1] or isOver
  if (budget.new or isPast or isEarly) and budget.seed == '' then
    unknown[#unknown + 1] = i - 1
  elseif budget.new or budget.period > known[2] then
    budget.spent = tonumber(budget.seed) or 0
  else
    budget.spent, budget.period = tonumber(known[1]), known[2]
  end
  -- What calls hold that run since an earlier period, that period pays.
  budget.begins = not budget.new and not isEarly and budget.period > known[2]
  budget.held = budget.begins and 0 or numeric(known[3])
  budgets[i] = budget
end

if #stale + #unknown > 0 then return { 'stale', now, stale, unknown } end

${WINDOW_END}
for i = 1, #counters do
  counters[i].read = call('HMGET', counters[i].key, unpack(counters[i].fields))
end
local before, objection = {}, nil
for i = 1, #quotas do
  local quota = quotas[i]
  local read = quota.subject.read
  quota.ends = numeric(read[quota.at + 1])
  quota.used = 0
  if isOpen(quota.window, quota.ends) then
    quota.used = numeric(read[quota.at])
  else
    quota.ends = windowEnd(quota.window)
    quota.subject.opened = true
  end
  before[2 * i - 1], before[2 * i] = quota.used, quota.ends
  quota.used = quota.used + quota.cost
  if not objection and (quota.limit <= 0 or quota.used > quota.limit) then objection = i - 1 end
end
if objection then return { 'refused', now, 'quota', objection, before } end

for i = 1, #slots do
  local slot = slots[i]
  local taken = call('ZCOUNT', slot.key, '(' .. now, '+inf')
  if taken >= slot.limit and hasLease(slot.key, callId) then taken = taken - 1 end
  if taken >= slot.limit then return { 'refused', now, 'slot', i - 1, before } end
end

-- A hit costs nothing, and nor does a call that follows another: they reserve nothing.
local cached, found, reserves = nil, {}, true
if answers > 0 then
  local read = call('MGET', unpack(looked))
  local cleared = 0
  for i = answers + 1, answers + clearings do cleared = math.max(cleared, numeric(read[i])) end
  cached = 'hit'
  for i = 1, answers do
    local at = numeric(string.match(read[i] or '', '^(%d+)|'))
    local usable = at > cleared and at + maxAge > now
    found[i] = usable and read[i] or ''
    if not usable then cached = 'lead' end
  end
  local from, ends, owner = string.match(read[#looked] or '', '^(%d+)|(%d+)|(.*)$')
  if cached == 'lead' and from and tonumber(from) > cleared and tonumber(ends) > now and owner ~= callId then
    cached = owner == '' and 'alone' or 'follow'
  end
  if cached == 'follow' then found = {} end
  reserves = cached == 'lead' or cached == 'alone'
end
for i = 1, reserves and 0 or #budgets do
  if budgets[i].spent >= budgets[i].limit then return { 'refused', now, 'budget', i - 1, before, budgets[i].spent } end
end

-- 'held' is the sum of all holds in the set. The set may outlive the hash, and the hash the set.
local function heldBy(member) return tonumber(string.match(member, '|(%d+)$')) end
for i = 1, reserves and #budgets or 0 do
  local budget = budgets[i]
  if budget.new then
    budget.held = 0
    for _, member in ipairs(call('ZRANGE', budget.holds, 0, -1)) do
      budget.held = budget.held + heldBy(member)
    end
  elseif budget.held > 0 and call('ZCARD', budget.holds) == 0 then
    budget.held = 0
  end
  if budget.held > 0 then
    for _, member in ipairs(call('ZRANGEBYSCORE', budget.holds, '-inf', now)) do
      budget.held = budget.held - heldBy(member)
      budget.ended = true
    end
  end
  local others = budget.held
  local owed = budget.spent + others
  if owed >= budget.limit or owed + budget.hold > budget.limit then
    local needs = budget.hold
    if not budget.begins and hasLease(budget.holds, budget.member) then others = others - budget.hold end
    for _, amount in ipairs(budget.begins and {} or budget.own) do
      local member = callId .. '|' .. amount
      if member ~= budget.member and hasLease(budget.holds, member) then
        others = others - tonumber(amount)
        needs = needs + tonumber(amount)
      end
    end
    owed = budget.spent + others
    if others <= 0 then needs = budget.likely end
    if owed >= budget.limit or owed + needs > budget.limit then
      return { 'refused', now, 'budget', i - 1, before, budget.spent }
    end
  end
end

for i = 1, #versions do
  if versions[i] then call('SET', versionKeys[i], versions[i], 'PX', '${LIFETIME_MS.version}') end
end
local counted = {}
for i = 1, #quotas do
  local quota = quotas[i]
  counted[2 * i - 1], counted[2 * i] = quota.used, quota.ends
  local write = quota.subject.write or {}
  write[#write + 1] = quota.field
  write[#write + 1] = counted[2 * i - 1]
  write[#write + 1] = quota.field .. ':ends'
  write[#write + 1] = counted[2 * i]
  quota.subject.write = write
end
for i = 1, #counters do
  call('HSET', counters[i].key, unpack(counters[i].write))
  if counters[i].opened then call('PEXPIRE', counters[i].key, '${LIFETIME_MS.quota}') end
end
for i = 1, reserves and #slots or 0 do
  sweepLeases(slots[i].key)
  call('ZADD', slots[i].key, leaseEnd, callId)
  call('PEXPIRE', slots[i].key, leasesExpire)
end
for i = 1, reserves and #budgets or 0 do
  local budget = budgets[i]
  if budget.begins then call('DEL', budget.holds) elseif budget.ended then sweepLeases(budget.holds) end
  if budget.hold > 0 then
    budget.held = budget.held + budget.hold * call('ZADD', budget.holds, leaseEnd, budget.member)
    call('PEXPIRE', budget.holds, leasesExpire)
  end
  call('HSET', budget.hash, 'spent', budget.spent, 'period', budget.period, 'held', budget.held)
  if budget.new then
    call('HSET', budget.hash, 'readAt', now, 'since', budget.since)
    call('HDEL', budget.hash, 'shortSince')
  end
  call('PEXPIRE', budget.hash, '${LIFETIME_MS.budget}')
end

local spent = {}
for i = 1, #budgets do spent[i] = budgets[i].spent end

if cached == 'lead' then
  call('SET', looked[#looked], now .. '|' .. (now + leadMs) .. '|' .. callId, 'PX', leadMs)
end
if not reserves then return { 'admitted', now, -1, 0, counted, {}, spent, cached, found } end

local preference = readPreference()
local signals, chosen, best, probe = {}, nil, nil, false
for i = 1, number() do
  local state = readDeployment(key(), key())
  local available = availability(state, readLimits(), attemptId)
  local capacity = preference and readLimits()
  signals[i] = signalsOf(state)
  state.index = i - 1
  if (preference or not chosen) and (available == 'free' or available == 'half-open') then
    local rank = preference and rankBy(preference, state, signals[i][1], capacity)
    if not chosen or rank < best then
      chosen, best, probe = state, rank, available == 'half-open'
    end
  end
end
if chosen then reserve(chosen, attemptId, leaseMs, probe) end
return { 'admitted', now, chosen and chosen.index or -1, probe and 1 or 0, counted, signals, spent, cached, found }
`
