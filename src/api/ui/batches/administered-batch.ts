import * as z from 'zod'
import { missingPermission, reachOf } from '../../../identity/grants.ts'
import type { Permission } from '../../../identity/permissions.ts'
import { lazily } from '../../../lib/lazily.ts'
import { dollarsOf } from '../../../lib/money.ts'
import type { AdministeredBatch, ItemError } from '../../../stores/sql/batches/administered-batches.ts'
import type { Scope } from '../../scope.ts'
import { BATCH_STATUSES } from '../../v1/batches/batch-object.ts'
import { noSuchBatch } from '../../v1/batches/no-such-batch.ts'
import { auditsOf } from '../records/record-reach.ts'

const time = () => z.iso.datetime()
const count = () => z.int().min(0)

/** A batch of a list. */
export const listedBatch = lazily(() =>
  z.object({
    id: z.string(),
    endpoint: z.string(),
    status: z.enum(BATCH_STATUSES),
    model: z.string().nullable(),
    key_id: z.string(),
    key_name: z.string().nullable(),
    team_id: z.string().nullable(),
    team_name: z.string().nullable(),
    organization_id: z.string().nullable(),
    retry_of: z.string().nullable().describe('The batch whose failed requests this one repeats.'),
    progress: z.object({
      total: count().describe('0 until the input was checked.'),
      waiting: count(),
      running: count(),
      completed: count(),
      failed: count(),
    }),
    items_per_minute: z.number().describe('Of the last minute.'),
    cost: z.number().describe('US dollars, so far.'),
    input_tokens: count(),
    output_tokens: count(),
    input_file_id: z.string(),
    output_file_id: z.string().nullable(),
    error_file_id: z.string().nullable(),
    created_at: time(),
    in_progress_at: time().nullable(),
    ended_at: time().nullable(),
    expires_at: time(),
    estimated_end: time().nullable().describe('At the speed of the last minute; null: it does not move.'),
  }),
)

/** One batch by itself. */
export const shownBatch = lazily(() =>
  listedBatch().extend({
    metadata: z.record(z.string(), z.string()).nullable(),
    errors: z
      .array(
        z.object({ code: z.string(), message: z.string(), param: z.string().nullable(), line: z.int().nullable() }),
      )
      .describe('What the check of the input has found.'),
    oldest_error: z
      .object({ item: z.int(), custom_id: z.string().nullable(), error: z.string().nullable(), at: time() })
      .nullable()
      .describe('Of the first request that has failed, or has to be repeated.'),
  }),
)

export function listedAnswer(batch: AdministeredBatch, now: number): z.output<ReturnType<typeof listedBatch>> {
  const { status, requests: total, completed, failed, running, items_per_minute } = batch
  const isOpen =
    status === 'validating' || status === 'in_progress' || status === 'finalizing' || status === 'cancelling'
  const left = isOpen ? Math.max(0, total - completed - failed) : 0
  const leftMs = items_per_minute > 0 ? (60_000 * left) / items_per_minute : undefined
  return {
    id: batch.batch_id,
    endpoint: batch.endpoint,
    status,
    model: batch.model || null,
    key_id: batch.key_id,
    key_name: batch.key_name,
    team_id: batch.team_id,
    team_name: batch.team_name,
    organization_id: batch.organization_id,
    retry_of: batch.retry_of,
    progress: { total, waiting: Math.max(0, left - running), running, completed, failed },
    items_per_minute: Math.round(items_per_minute * 10) / 10,
    cost: dollarsOf(batch.cost_nano),
    input_tokens: Number(batch.input_tokens),
    output_tokens: Number(batch.output_tokens),
    input_file_id: batch.input_file_id,
    output_file_id: batch.output_file_id,
    error_file_id: batch.error_file_id,
    created_at: batch.created_at,
    in_progress_at: batch.in_progress_at,
    ended_at: batch.completed_at ?? batch.failed_at ?? batch.expired_at ?? batch.cancelled_at,
    expires_at: batch.expires_at,
    estimated_end: leftMs === undefined ? null : new Date(now + leftMs).toISOString(),
  }
}

export function shownAnswer(
  batch: AdministeredBatch,
  oldest: ItemError | undefined,
  now: number,
): z.output<ReturnType<typeof shownBatch>> {
  return {
    ...listedAnswer(batch, now),
    metadata: batch.metadata,
    errors: (batch.errors ?? []).map((error) => ({ ...error })),
    oldest_error: oldest ?? null,
  }
}

/** The batch of the path. Without the permission there it throws 403 if the caller may read the batch, else 404. */
export async function batchOfRequest(scope: Scope, id: string, permission: Permission): Promise<AdministeredBatch> {
  const { services, caller } = scope
  const { administeredBatches } = services.records
  const batch = await administeredBatches.find(id, reachOf(caller(), permission))
  if (batch) return batch
  const seen = permission === 'key.read' ? undefined : await administeredBatches.find(id, reachOf(caller(), 'key.read'))
  if (!seen) throw noSuchBatch()
  auditsOf(scope, seen)
  throw missingPermission(permission)
}
