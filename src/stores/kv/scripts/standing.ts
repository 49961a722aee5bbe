import { quotaKey } from '../keys.ts'
import type { BudgetStanding, Limits, Standing } from '../shared-store.ts'
import { WINDOW_END } from './admit-text.ts'
import { isRead, readList, readNumber, readNumbers, readText } from './reply.ts'
import { luaScript, type Script, written } from './script.ts'
import { budgetKeys, slotKeys } from './script-keys.ts'

const TEXT = `
local states, taken, budgets = {}, {}, {}
for i = 1, number() do
  local counters, field, window = key(), text(), text()
  local read = call('HMGET', counters, field, field .. ':ends')
  local ends = numeric(read[2])
  if isOpen(ends, windowEnd[window]) then
    states[2 * i - 1], states[2 * i] = numeric(read[1]), ends
  else
    states[2 * i - 1], states[2 * i] = 0, windowEnd[window]
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
    const keys = [...quotas.map(({ subject }) => quotaKey(subject)), ...slots.map(slotKeys), ...budgets.map(budgetKeys)]
    const fields = quotas.flatMap(({ unit, window }) => [`${unit}:${window}`, window])
    return { keys, args: written([quotas.length, ...fields, slots.length, budgets.length]) }
  },
  decode(reply, { quotas, slots, budgets }) {
    const now = readNumber(reply)
    const states = readNumbers(reply, 2 * quotas.length)
    const taken = readNumbers(reply, slots.length)
    const known = readList(reply)
    return {
      now,
      quotas: {
        used: states.filter((_, index) => index % 2 === 0),
        resetsAt: states.filter((_, index) => index % 2 === 1),
      },
      taken,
      budgets: budgets.map((): BudgetStanding | undefined => {
        const budget = readList(known)
        return isRead(budget)
          ? undefined
          : { period: readText(budget), spentNano: readNumber(budget), heldNano: readNumber(budget) }
      }),
    }
  },
}
