import { activeKey, holdKey, LIFETIME_MS, slotKey } from '../keys.ts'
import type { Lease } from '../shared-store.ts'
import { milliseconds } from '../windows.ts'
import { readFlag } from './reply.ts'
import { luaScript, type Script, written } from './script.ts'

/** Extends leases that have not ended; never shortens one. */
const TEXT = `
local leaseMs = number()
for _ = 1, number() do
  local leases, id = key(), text()
  local ends = numeric(call('ZSCORE', leases, id))
  if ends > now then
    call('ZADD', leases, math.max(ends, now + leaseMs), id)
    call('PEXPIRE', leases, math.max(leaseMs, ${LIFETIME_MS.leases}))
  end
end
for _ = 1, number() do
  local lead, callId, leadMs = key(), text(), number()
  local from, ends, owner = string.match(call('GET', lead) or '', '^(%d+)|(%d+)|(.*)$')
  if owner == callId and tonumber(ends) > now then
    call('SET', lead, from .. '|' .. math.max(tonumber(ends), now + leadMs) .. '|' .. callId, 'PX', leadMs)
  end
end
return { '1' }
`

export const renewScript: Script<Lease, void> = {
  text: luaScript(TEXT),
  encode: ({ callId, attemptIds, slots, budgets, leaseSeconds, lead }) => ({
    keys: [
      ...slots.map(slotKey),
      ...budgets.map(({ subject }) => holdKey(subject)),
      ...attemptIds.map(({ deployment }) => activeKey(deployment)),
      ...(lead ? [lead.key] : []),
    ],
    args: written([
      milliseconds(leaseSeconds),
      slots.length + budgets.length + attemptIds.length,
      ...slots.map(() => callId),
      ...budgets.map(({ holdNano }) => `${callId}|${holdNano}`),
      ...attemptIds.map(({ attemptId }) => attemptId),
      ...(lead ? [1, callId, milliseconds(lead.seconds)] : [0]),
    ]),
  }),
  decode: (reply) => {
    readFlag(reply)
  },
}
