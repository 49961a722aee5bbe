import { budgetKey, holdKey, type Key, quotaKey, slotKey } from '../keys.ts'
import { type BudgetStanding, type Limits, type Standing, StoreUnavailable } from '../shared-store.ts'
import { WINDOW_END } from './admit-text.ts'
import { luaScript, type Script } from './script.ts'

const TEXT = `
local states, taken, budgets = {}, {}, {}
for i = 1, number() do
  local counters, field, window = key(), text(), text()
  local read = call('HMGET', counters, field, field .. ':ends')
  local ends = numeric(read[2])
  if isOpen(window, ends) then
    states[2 * i - 1], states[2 * i] = numeric(read[1]), ends
  else
    states[2 * i - 1], states[2 * i] = 0, windowEnd(window)
  end
end
for i = 1, number() do taken[i] = call('ZCOUNT', key(), '(' .. now, '+inf') end
for i = 1, number() do
  local known, held = call('HMGET', key(), 'spent', 'period'), 0
  for _, member in ipairs(call('ZRANGEBYSCORE', key(), '(' .. now, '+inf')) do
    held = held + tonumber(string.match(member, '|(%d+)$'))
  end
  budgets[i] = known[1] and { known[2], known[1], held } or {}
end
return { now, states, taken, budgets }
`

export const standingScript: Script<Limits, Standing> = {
  text: luaScript(WINDOW_END, TEXT),
  encode({ quotas, slots, budgets }) {
    const keys: Key[] = [
      ...quotas.map(({ subject }) => quotaKey(subject)),
      ...slots.map(slotKey),
      ...budgets.flatMap((subject) => [budgetKey(subject), holdKey(subject)]),
    ]
    const fields = quotas.flatMap(({ unit, window }) => [`${unit}:${window}`, window])
    return { keys, args: [quotas.length, ...fields, slots.length, budgets.length] }
  },
  decode(reply, { quotas, slots, budgets }) {
    const now = reply.number()
    const states = reply.numbers()
    const taken = reply.numbers()
    const known = reply.list()
    if (states.length !== 2 * quotas.length || taken.length !== slots.length) throw new StoreUnavailable('nonsense')
    return {
      now,
      quotas: {
        used: states.filter((_, index) => index % 2 === 0),
        resetsAt: states.filter((_, index) => index % 2 === 1),
      },
      taken,
      budgets: budgets.map((): BudgetStanding | undefined => {
        const budget = known.list()
        return budget.left() === 0
          ? undefined
          : { period: budget.text(), spentNano: budget.number(), heldNano: budget.number() }
      }),
    }
  },
}
