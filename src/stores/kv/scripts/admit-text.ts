import { LIFETIME_MS } from '../keys.ts'

/** The counters of a subject; arguments refer to them by index. */
export const COUNTED = (['requests', 'tokens'] as const).flatMap((unit) =>
  (['minute', 'hour', 'day'] as const).map((window) => ({ unit, window, field: `${unit}:${window}` })),
)
const listed = (texts: readonly string[]) => `{ ${texts.map((text) => `'${text}'`).join(', ')} }`

/** When windows that are opened now end, and whether one is open, as in `windows.ts`. */
export const WINDOW_END = `
local function endOf(length) return math.floor(now / length) * length + length end
local windowEnd = { minute = now + 60000, hour = endOf(3600000), day = endOf(86400000) }
local function isOpen(ends, latest) return ends > now and ends <= latest end
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
local leaseEnd = string.format('%d', now + leaseMs)
local leasesExpire = math.max(leaseMs, ${LIFETIME_MS.leases})

local stale, unknown = {}, {}

local newer, versions = {}, number()
if versions > 0 then
  local known = call('MGET', unpack(KEYS, 1, versions))
  for i = 1, versions do
    local record, version, remembered = key(), number(), number() == 1
    local difference = numeric(known[i]) - version
    local lost = remembered and not known[i] and difference < 0
    if difference > 0 or lost then stale[#stale + 1] = i - 1 end
    if difference < 0 then newer[record] = version end
  end
end

local FIELDS, ENDS = ${listed(COUNTED.map(({ field }) => field))}, ${listed(COUNTED.map(({ field }) => `${field}:ends`))}
local tokens = number()
-- What a subject counts, which is the same for most.
local forms = {}
for i = 1, number() do
  local form = { counted = {}, fields = {}, write = {} }
  for j = 1, number() do
    local counted = number()
    form.counted[j] = counted
    form.fields[2 * j - 1], form.fields[2 * j] = FIELDS[counted], ENDS[counted]
    form.write[2 * j - 1], form.write[2 * j] = FIELDS[counted], 0
  end
  forms[i] = form
end
-- Of each quota its index in the admission and its limit follow one another in the arguments.
local subjects, quotas = {}, 0
for i = 1, number() do
  local subject = { key = key(), form = forms[number()], at = argumentAt, opens = false }
  quotas = quotas + #subject.form.counted
  argumentAt = argumentAt + 2 * #subject.form.counted
  subjects[i] = subject
end

local slots, slotLimits = {}, {}
for i = 1, number() do slots[i], slotLimits[i] = key(), number() end

local looked, answers = {}, number()
local clearings, maxAge, leadMs
if answers > 0 then
  clearings, maxAge, leadMs = number(), number(), number()
  for i = 1, answers + clearings + 1 do looked[i] = key() end
end

local budgets = {}
for i = 1, number() do
  local budget = { hash = key(), holds = key(), limit = number(), hold = text(), likely = number(), period = text(),
    since = text(), seed = text(), own = {}, member = '', new = false, opens = false, begins = false, ended = false,
    spent = 0, held = 0, expiresAt = 0, holdsExpireAt = 0 }
  for j = 1, number() do budget.own[j] = text() end
  local known = call('HMGET', budget.hash, 'spent', 'period', 'held', 'since', 'expiresAt', 'holdsExpireAt')
  budget.member = callId .. '|' .. budget.hold
  budget.hold = tonumber(budget.hold)
  -- By another clock than this one it is another period's time.
  local isPast = known[1] and budget.period < known[2]
  local isEarly = known[1] and budget.period > known[2] and isYetToBegin(budget.period)
  -- Opened before the clock was set back.
  local isOver = isPast and isYetToBegin(known[2])
  -- Another period without end has begun since, which the store has missed.
  local isOutlived = budget.period == known[2] and (known[4] or '') ~= '' and budget.since > known[4]
  budget.new = not known[1] or isOver or isOutlived
  budget.opens = budget.new or budget.period > known[2]
  if (budget.new or isPast or isEarly) and budget.seed == '' then
    unknown[#unknown + 1] = i - 1
  elseif budget.opens then
    budget.spent = tonumber(budget.seed) or 0
  else
    budget.spent, budget.period = tonumber(known[1]), known[2]
  end
  -- What calls hold that run since an earlier period, that period pays.
  budget.begins = not budget.new and not isEarly and budget.opens
  budget.held = budget.begins and 0 or numeric(known[3])
  budget.expiresAt, budget.holdsExpireAt = numeric(known[5]), numeric(known[6])
  budgets[i] = budget
end

if #stale + #unknown > 0 then return { 'stale', now, stale, unknown } end

${WINDOW_END}
local latest = { ${COUNTED.map(({ window }) => `windowEnd.${window}`).join(', ')} }
local costs = { ${COUNTED.map(({ unit }) => (unit === 'tokens' ? 'tokens' : '1')).join(', ')} }
local after, objection = sized(2 * quotas), nil
for i = 1, #subjects do
  local subject = subjects[i]
  local counted, at = subject.form.counted, subject.at
  local read = call('HMGET', subject.key, unpack(subject.form.fields))
  for j = 1, #counted do
    local index, limit = arguments[at + 2 * j - 1], arguments[at + 2 * j]
    local used, ends = numeric(read[2 * j - 1]), numeric(read[2 * j])
    if not isOpen(ends, latest[counted[j]]) then
      used, ends, subject.opens = 0, latest[counted[j]], true
    end
    used = used + costs[counted[j]]
    if (limit <= 0 or used > limit) and (not objection or index < objection) then objection = index end
    after[2 * index - 1], after[2 * index] = used, ends
  end
end
-- The state of the quotas as it was.
local function before()
  for i = 1, #subjects do
    for j, counted in ipairs(subjects[i].form.counted) do
      local at = 2 * arguments[subjects[i].at + 2 * j - 1] - 1
      after[at] = after[at] - costs[counted]
    end
  end
  return after
end
if objection then return { 'refused', now, 'quota', objection - 1, before() } end

for i = 1, #slots do
  local taken, limit = call('ZCOUNT', slots[i], '(' .. now, '+inf'), slotLimits[i]
  if taken >= limit and hasLease(slots[i], callId) then taken = taken - 1 end
  if taken >= limit then return { 'refused', now, 'slot', i - 1, before() } end
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
  if budgets[i].spent >= budgets[i].limit then return { 'refused', now, 'budget', i - 1, before(), budgets[i].spent } end
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
  end
  if budget.held > 0 then
    local first = call('ZRANGE', budget.holds, 0, 0, 'WITHSCORES')
    if not first[1] then
      budget.held = 0
    elseif tonumber(first[2]) <= now then
      budget.ended = true
      for _, member in ipairs(call('ZRANGEBYSCORE', budget.holds, '-inf', now)) do
        budget.held = budget.held - heldBy(member)
      end
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
      return { 'refused', now, 'budget', i - 1, before(), budget.spent }
    end
  end
end

for record, version in pairs(newer) do call('SET', record, version, 'PX', '${LIFETIME_MS.version}') end
for i = 1, #subjects do
  local subject = subjects[i]
  local form, ends = subject.form, {}
  for j = 1, #form.counted do
    local index = arguments[subject.at + 2 * j - 1]
    form.write[2 * j] = after[2 * index - 1]
    if subject.opens then put(ends, form.fields[2 * j], after[2 * index]) end
  end
  call('HSET', subject.key, unpack(form.write))
  if subject.opens then
    call('HSET', subject.key, unpack(ends))
    call('PEXPIRE', subject.key, '${LIFETIME_MS.quota}')
  end
end
for i = 1, reserves and #slots or 0 do
  sweepLeases(slots[i])
  call('ZADD', slots[i], leaseEnd, callId)
  call('PEXPIRE', slots[i], leasesExpire)
end
for i = 1, reserves and #budgets or 0 do
  local budget = budgets[i]
  local write = { 'held', 0 }
  if budget.begins then call('DEL', budget.holds) elseif budget.ended then sweepLeases(budget.holds) end
  if budget.hold > 0 then
    local isNewSet = budget.held <= 0 or budget.ended
    budget.held = budget.held + budget.hold * call('ZADD', budget.holds, leaseEnd, budget.member)
    if isNewSet or not lastsLong(budget.holdsExpireAt, leasesExpire) then
      call('PEXPIRE', budget.holds, leasesExpire)
      put(write, 'holdsExpireAt', now + leasesExpire)
    end
  end
  write[2] = budget.held
  if budget.opens then
    put(write, 'spent', budget.spent)
    put(write, 'period', budget.period)
  end
  if budget.new then
    put(write, 'readAt', now)
    put(write, 'since', budget.since)
    call('HDEL', budget.hash, 'shortSince')
  end
  local isKept = lastsLong(budget.expiresAt, ${LIFETIME_MS.budget})
  if not isKept then put(write, 'expiresAt', now + ${LIFETIME_MS.budget}) end
  call('HSET', budget.hash, unpack(write))
  if not isKept then call('PEXPIRE', budget.hash, '${LIFETIME_MS.budget}') end
end

local spent = sized(#budgets)
for i = 1, #budgets do spent[i] = budgets[i].spent end

if cached == 'lead' then
  call('SET', looked[#looked], now .. '|' .. (now + leadMs) .. '|' .. callId, 'PX', leadMs)
end
if not reserves then return { 'admitted', now, -1, 0, after, {}, spent, cached, found } end

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
return { 'admitted', now, chosen and chosen.index or -1, probe and 1 or 0, after, signals, spent, cached, found }
`
