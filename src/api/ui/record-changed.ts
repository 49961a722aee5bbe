import { credentialRecord } from '../../identity/api-keys.ts'
import type { Level } from '../../limits/limited-scope.ts'
import { authKey, budgetKey } from '../../stores/kv/keys.ts'
import type { ApiServices } from '../scope.ts'

/** Makes a written change hold from the next request of every process. What is written is an answer even while the
 *  shared store is away: the store is told when it is back. */
export async function changeHolds(
  { store }: ApiServices,
  change: {
    readonly record: `${Level}:${string}`
    readonly version: string
    /** Hashes of keys that are to be looked up again. */
    readonly hashes?: readonly string[]
    /** Hashes that have become known. */
    readonly newHashes?: readonly string[]
    /** Budgets of which the database knows more than the shared store, or that are no more. */
    readonly staleBudgets?: readonly string[]
  },
): Promise<void> {
  const { record, version, hashes = [], newHashes = [], staleBudgets = [] } = change
  await store.publish([
    { record, version: Number(version) },
    ...newHashes.map((hash) => ({ record: credentialRecord(hash), version: 1 })),
  ])
  const stale = [...hashes.map(authKey), ...staleBudgets.map(budgetKey)]
  // The version alone makes a change hold; a budget is asked of the database again.
  if (stale.length > 0) await store.remove(...stale).catch(() => {})
}
