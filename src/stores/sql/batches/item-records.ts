import type { BatchCheckpoint } from '../schema/batch-schema.ts'
import type { Sql } from '../sql.ts'
import type { BatchPlan, Claim, EndedItem, ItemClaim, ReleasedItem } from './claimed-items.ts'
import {
  ADVANCE,
  CLAIM,
  COMPLETE,
  ENDED,
  NAME_BLOBS,
  OUTLOOK,
  PLAN,
  POSTPONE,
  RELEASE,
  RELEASED,
  RENEW,
} from './item-statements.ts'

/** The remaining work. */
export interface Outlook {
  /** Batches that have not ended. */
  readonly active: number
  /** When the next of them is due that is not due now; undefined if none waits. */
  readonly nextMs: number | undefined
}

/** The running of batches: each item has one claim at a time, whose token alone may write it. By the database's
 *  clock. */
export interface ItemRecords {
  /** Takes a stretch of one batch, of the owner that was served longest ago: first what was given back, then fresh
   *  items. undefined if nothing is due but of the batches `except`. */
  claim(
    token: string,
    options: { readonly most: number; readonly except: readonly string[]; readonly leaseSeconds: number },
  ): Promise<Claim | undefined>
  plan(batchId: string): Promise<BatchPlan | undefined>
  /** Extends the leases of these items, except of those that another claim has taken. */
  renew(items: readonly ItemClaim[], leaseSeconds: number): Promise<void>
  /** Writes how items ended, with their results, counts and cost, and resolves with those that were this claim's. A
   *  batch without an open item goes on to have its files written. */
  complete(items: readonly EndedItem[]): Promise<readonly { readonly batchId: string; readonly item: number }[]>
  /** Names results that are about to become blobs, so that these are removed once the batch has ended, whatever
   *  happens. */
  nameBlobs(items: readonly Pick<ItemClaim, 'batchId' | 'item'>[]): Promise<void>
  /** Gives items back, due after their delay. */
  release(items: readonly ReleasedItem[]): Promise<void>
  /** Keeps the batch from being claimed for that long. */
  postpone(batchId: string, delayMs: number): Promise<void>
  /** Ends what has expired or has nothing left to run, so that its files are written. */
  advance(): Promise<void>
  outlook(): Promise<Outlook>
}

export function itemRecords(database: Sql): ItemRecords {
  const run = async <Row>(sql: string, ...parameters: unknown[]): Promise<Row[]> =>
    (await database.query<Row>({ sql, parameters, repeated: 'embedded' })).rows
  const keysOf = (items: readonly ItemClaim[]) => [
    items.map(({ batchId }) => batchId),
    items.map(({ item }) => item),
    items.map(({ token }) => token),
  ]

  return {
    async claim(token, { most, except, leaseSeconds }) {
      const rows = await run<ClaimedRow>(CLAIM, token, most, leaseSeconds, except)
      const [first] = rows
      if (!first) return undefined
      const items = rows
        .filter((row): row is ClaimedRow & { item: number } => row.item !== null)
        .map(({ batch_id, item, tries, line, starts_at, length }) => ({
          batchId: batch_id,
          item,
          tries: tries ?? 0,
          token,
          line,
          startsAt: starts_at === null ? null : Number(starts_at),
          length,
        }))
      return {
        batchId: first.batch_id,
        items,
        waitedMs: Math.max(0, ...rows.map(({ waited_ms }) => Number(waited_ms))),
      }
    },
    async plan(batchId) {
      const [row] = await run<PlanRow>(PLAN, batchId)
      return (
        row && {
          batchId,
          endpoint: row.endpoint,
          keyId: row.key_id,
          inputFileId: row.input_file_id,
          inputBytes: Number(row.bytes),
          requests: row.requests,
          checkpoints: row.checkpoints ?? [],
        }
      )
    },
    async renew(items, leaseSeconds) {
      if (items.length > 0) await run(RENEW, ...keysOf(items), leaseSeconds)
    },
    async complete(items) {
      if (items.length === 0) return []
      const rows = await run<{ batch_id: string; item: number }>(
        COMPLETE,
        ...keysOf(items),
        ...ENDED.map(([name]) => items.map((item) => item[name])),
      )
      return rows.map(({ batch_id: batchId, item }) => ({ batchId, item }))
    },
    async nameBlobs(items) {
      if (items.length === 0) return
      await run(
        NAME_BLOBS,
        items.map(({ batchId }) => batchId),
        items.map(({ item }) => item),
      )
    },
    async release(items) {
      if (items.length === 0) return
      await run(RELEASE, ...keysOf(items), ...RELEASED.map(([name]) => items.map((item) => item[name])))
    },
    async postpone(batchId, delayMs) {
      await run(POSTPONE, batchId, delayMs)
    },
    async advance() {
      await run(ADVANCE)
    },
    async outlook() {
      const [row] = await run<{ active: number; next_ms: number | null }>(OUTLOOK)
      return { active: row?.active ?? 0, nextMs: row?.next_ms ?? undefined }
    },
  }
}

interface ClaimedRow {
  readonly batch_id: string
  readonly item: number | null
  readonly tries: number | null
  readonly line: number | null
  readonly starts_at: string | null
  readonly length: number | null
  readonly waited_ms: number
}

interface PlanRow {
  readonly endpoint: string
  readonly key_id: string
  readonly input_file_id: string
  readonly bytes: string | null
  readonly requests: number
  readonly checkpoints: readonly BatchCheckpoint[] | null
}
