import type { MadeId } from '../../providers/wire/made-ids.ts'
import { providerIdKey } from '../../stores/kv/keys.ts'
import type { StoredValue } from '../../stores/kv/stored-value.ts'
import { mayBlockNextCall } from '../admit/budget-holds.ts'
import type { Call } from '../call.ts'
import { tenantOf } from '../caller.ts'
import { mayBeKept } from '../memory/remember.ts'
import { LONGEST_ID, ownerText } from './known-ids.ts'

/** More ids than any answer has. */
const MOST_IDS = 512

/** Records objects that the answering provider created. Ids that the request could reference without an owner stay open
 *  to every tenant. */
export function noteMade(call: Call, made: readonly MadeId[] | undefined): void {
  const deployment = call.attempts.at(-1)?.deployment.id
  if (!made || deployment === undefined) return
  const open = new Set(call.bounds.ids?.flatMap(({ id, owner }) => (owner ? [] : id)))
  call.made ??= new Map()
  for (const { id, ttlSeconds } of made) {
    if (open.has(id) || id.length > LONGEST_ID || (call.made.size >= MOST_IDS && !call.made.has(id))) continue
    call.made.set(id, { deployment, ttlSeconds })
  }
}

const NONE: readonly StoredValue[] = []

/** The ids of created objects, as values for the shared store. */
export function keptIds({ made, caller }: Call): readonly StoredValue[] {
  if (!made) return NONE
  const tenant = tenantOf(caller)
  return [...made].map(([id, { deployment, ttlSeconds }]) => ({
    key: providerIdKey(id),
    text: ownerText(tenant, deployment),
    ttlSeconds,
  }))
}

/** Whether the client's next call may depend on this one's settlement: on the room that it frees, on the objects that it
 *  created, or on the answer that is kept. */
export const isAwaited = (call: Call): boolean => call.made !== undefined || mayBeKept(call) || mayBlockNextCall(call)
