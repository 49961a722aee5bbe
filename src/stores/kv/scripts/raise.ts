import type { BudgetSpent } from '../../sql/records/budget-records.ts'
import { budgetKey, SHORT_MS } from '../keys.ts'
import { StoreUnavailable } from '../store-unavailable.ts'
import { isRead, readFlag, readNumber } from './reply.ts'
import { inDigits, luaScript, type Script, written } from './script.ts'

/** Raises budgets that have been below the given spend for seconds. A settlement that is on its way brings the others
 *  there, and a budget that the store does not have is read from the database when it is needed. Replies with the
 *  indexes of the others behind a flag. */
const TEXT = `
local short = { '1' }
for i = 1, number() do
  local hash, period, spent = key(), text(), text()
  local known = call('HMGET', hash, 'spent', 'period', 'shortSince')
  if known[1] and known[2] == period then
    if tonumber(spent) <= tonumber(known[1]) then
      if known[3] then call('HDEL', hash, 'shortSince') end
    elseif not known[3] then
      call('HSET', hash, 'shortSince', now)
      short[#short + 1] = i - 1
    elseif now - tonumber(known[3]) >= ${SHORT_MS} or tonumber(known[3]) > now then
      call('HSET', hash, 'spent', spent, 'readAt', now)
      call('HDEL', hash, 'shortSince')
    else
      short[#short + 1] = i - 1
    end
  end
end
return short
`

export const raiseScript: Script<readonly BudgetSpent[], readonly BudgetSpent[]> = {
  text: luaScript(TEXT),
  encode: (spent) => ({
    keys: spent.map(({ subject }) => budgetKey(subject)),
    args: written([spent.length, ...spent.flatMap(({ period, spentNano }) => [period, inDigits(spentNano)])]),
  }),
  decode(reply, spent) {
    readFlag(reply)
    const short: BudgetSpent[] = []
    while (!isRead(reply)) {
      const one = spent[readNumber(reply)]
      if (!one) throw new StoreUnavailable('nonsense')
      short.push(one)
    }
    return short
  },
}
