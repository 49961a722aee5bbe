import type { Clock } from '../lib/clock.ts'
import { isoTime } from '../lib/iso-time.ts'
import type { EndedBatch } from '../stores/sql/batches/ended-batch.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/** Emits the event of a batch that this process has ended. */
export function reportFinished(
  { telemetry, clock }: { readonly telemetry: Telemetry; readonly clock: Clock },
  batch: EndedBatch,
): void {
  telemetry.emit({
    type: 'batch.finished',
    at: isoTime(clock.now()),
    batchId: batch.batch_id,
    status: batch.status,
    endpoint: batch.endpoint,
    keyId: batch.key_id,
    teamId: batch.team_id ?? '',
    organizationId: batch.organization_id ?? '',
    userId: batch.user_id ?? '',
    requests: batch.requests,
    completed: batch.completed,
    failed: batch.failed,
    costNano: Number(batch.cost_nano),
    createdAt: isoTime(Date.parse(batch.created_at)),
  })
}
