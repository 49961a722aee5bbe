import * as z from 'zod'
import { credentialRecord } from '../../../identity/api-keys.ts'
import { recordName } from '../../../identity/caller-of.ts'
import type { Level } from '../../../limits/limited-scope.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import { authKey, budgetKey, holdKey } from '../../../stores/kv/keys.ts'
import { json } from '../../respond.ts'
import type { ResponseContract } from '../../route.ts'
import type { ApiServices } from '../../scope.ts'

/** Publishes a stored change, so that it holds from the next request of every process. False: the shared store is away
 *  and gets it later; other processes may use the former record for up to a minute. */
export async function changeHolds(
  { store }: ApiServices,
  change: {
    readonly record: `${Level}:${string}`
    readonly version: string
    /** Keys that the change has revoked. */
    readonly revoked?: readonly { readonly key_id: string; readonly key_hash: string; readonly version: number }[]
    /** Hashes of keys that are to be looked up again. */
    readonly hashes?: readonly string[]
    /** Hashes that have become known. */
    readonly newHashes?: readonly string[]
    /** Budgets whose spend the shared store has to read from the database again. */
    readonly staleBudgets?: readonly string[]
    /** Budgets that were removed, with what calls hold of them. */
    readonly removedBudgets?: readonly string[]
  },
): Promise<boolean> {
  const { record, version, revoked = [], hashes = [], newHashes = [], staleBudgets = [], removedBudgets = [] } = change
  return store.publish({
    records: [
      { record, version: Number(version) },
      ...revoked.map((key) => ({ record: recordName('key', key.key_id), version: key.version })),
      ...newHashes.map((hash) => ({ record: credentialRecord(hash), version: 1 })),
    ],
    removed: [
      ...hashes.map(authKey),
      ...revoked.map(({ key_hash }) => authKey(key_hash)),
      ...[...staleBudgets, ...removedBudgets].map(budgetKey),
      ...removedBudgets.map(holdKey),
    ],
  })
}

/** The answers of a route that publishes its change: 202 while other processes do not have it yet. */
export function changeAnswers<const Status extends 200 | 201>(
  status: Status,
  answer: { readonly description: string; readonly schema: () => z.ZodObject },
): Readonly<Record<Status | 202, ResponseContract>> {
  const pending = {
    description: `${answer.description} The change is stored and in force in this process; other processes apply it within a minute, once the shared store is back.`,
    schema: () => answer.schema().extend({ pending: z.literal(true) }),
  }
  return { [status]: answer, 202: pending } as Record<Status | 202, ResponseContract>
}

/** The answer to a change: 202 unless every process has it. */
export function changeAnswer(everywhere: boolean, body: object, status = 200): Answer {
  return everywhere ? json(body, status) : json({ ...body, pending: true }, 202)
}
