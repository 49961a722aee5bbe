import type { MadeId } from '../../providers/wire/made-ids.ts'
import { providerIdKey } from '../../stores/kv/keys.ts'
import type { StoredValue } from '../../stores/kv/shared-store.ts'
import { mayBlockNextCall } from '../admit/budget-holds.ts'
import type { Call } from '../call.ts'
import { tenantOf } from '../caller.ts'
import { LONGEST_ID, ownerText } from './known-ids.ts'

/** More than any answer has parts. */
const MOST_IDS = 512

/** Takes note of what the provider that is answering has made. What a request could name without being its maker stays
 *  everybody's. */
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

/** What the shared store is to keep of it. */
export function keptIds({ made, caller }: Call): readonly StoredValue[] {
  if (!made) return []
  const tenant = tenantOf(caller)
  return [...made].map(([id, { deployment, ttlSeconds }]) => ({
    key: providerIdKey(id),
    text: ownerText({ tenant, deployment }),
    ttlSeconds,
  }))
}

/** Whether the next call of the same client may need what this one leaves in the shared store: room, or what it made. */
export const isAwaited = (call: Call): boolean => call.made !== undefined || mayBlockNextCall(call)
