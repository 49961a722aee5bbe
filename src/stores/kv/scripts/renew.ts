import { activeKey, holdKey, LIFETIME_MS, slotKey } from '../keys.ts'
import type { Lease } from '../shared-store.ts'
import { milliseconds } from '../windows.ts'
import { luaScript, type Script } from './script.ts'

/** Extends leases that have not ended; never shortens one. */
const TEXT = `
local leaseMs = number()
for _ = 1, #KEYS do
  local leases, id = key(), text()
  local ends = numeric(call('ZSCORE', leases, id))
  if ends > now then
    call('ZADD', leases, math.max(ends, now + leaseMs), id)
    call('PEXPIRE', leases, math.max(leaseMs, ${LIFETIME_MS.leases}))
  end
end
return { '1' }
`

export const renewScript: Script<Lease, void> = {
  text: luaScript(TEXT),
  encode: ({ callId, attemptIds, slots, budgets, leaseSeconds }) => ({
    keys: [
      ...slots.map(slotKey),
      ...budgets.map(({ subject }) => holdKey(subject)),
      ...attemptIds.map(({ deployment }) => activeKey(deployment)),
    ],
    args: [
      milliseconds(leaseSeconds),
      ...slots.map(() => callId),
      ...budgets.map(({ holdNano }) => `${callId}|${holdNano}`),
      ...attemptIds.map(({ attemptId }) => attemptId),
    ],
  }),
  decode: (reply) => {
    reply.flag()
  },
}
