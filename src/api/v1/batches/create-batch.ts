import * as z from 'zod'
import { newBatchId } from '../../../batch/batch-ids.ts'
import { wakeBatches } from '../../../batch/wake-up.ts'
import { mistake } from '../../../config/accepted.ts'
import { digestOf } from '../../../lib/crypto.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import type { Caller } from '../../../pipeline/caller.ts'
import { batchOwnerOf } from '../../../stores/sql/batches/batch-owner.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { isStorable, storable } from '../../storable.ts'
import { batchedEndpoints } from '../batched-endpoints.ts'
import { batchAnswer, batchObject } from './batch-object.ts'
import { requireCreated } from './creation.ts'

const MOST_PAIRS = 16
const LONGEST_IDEMPOTENCY_KEY = 255
const DAY_SECONDS = 86_400

export const newBatch = lazily(() =>
  z.looseObject({
    input_file_id: storable().min(1).max(128).describe('A file with purpose `batch`.'),
    endpoint: z.enum([...batchedEndpoints.keys()]).describe('The `url` of every line of the file.'),
    completion_window: z.literal('24h').nullish(),
    metadata: z
      .record(z.string().max(64), z.string().max(512))
      .refine((pairs) => Object.keys(pairs).length <= MOST_PAIRS, `must have at most ${MOST_PAIRS} pairs`)
      .nullish(),
    output_expires_after: z
      .object({
        anchor: z.literal('created_at'),
        seconds: z.int().min(3600).max(2_592_000),
      })
      .nullish()
      .describe('How long the files that the batch leaves are kept, from when they are written.'),
  }),
)

type NewBatch = z.output<ReturnType<typeof newBatch>>

export const createBatch = defineRoute(
  {
    method: 'post',
    path: '/v1/batches',
    summary:
      'Run every line of a file as a request of its own, within 24 hours. A repeated `Idempotency-Key` answers the batch that it has made.',
    tag: 'Batches',
    auth: 'caller',
    ofBatches: true,
    action: 'batch.create',
    json: newBatch,
    responses: { 200: { description: 'The batch, whose file is checked next.', schema: batchObject } },
  },
  (scope) => makeBatch(scope, scope.caller()),
)

/** Creates the batch of a request for `caller`, which may be a key that a person uses through the console. */
export async function makeBatch(scope: Scope<{ readonly json: NewBatch }>, caller: Caller): Promise<Answer> {
  const { services, client, input } = scope
  const { input_file_id, endpoint, metadata = null } = input.json
  const output_seconds = outputSeconds(input.json, services.config.general_settings.file_retention_days)
  const owner = batchOwnerOf(caller)
  const idempotencyKey = idempotencyKeyOf(scope.header('idempotency-key'))
  const creation = await services.records.batches.create(
    {
      batch_id: newBatchId(),
      endpoint,
      input_file_id,
      metadata,
      idempotency_key: idempotencyKey,
      request_hash: idempotencyKey === null ? null : hashOf({ input_file_id, endpoint, metadata, output_seconds }),
      retry_of: null,
      output_seconds,
    },
    owner,
    services.config.general_settings.batch_max_active,
  )
  const { batch, earlier } = requireCreated(creation, input_file_id, services.config)
  scope.audits({ resource_id: batch.batch_id, organization_id: batch.organization_id, metadata: { earlier } })
  if (!earlier) client.defer(wakeBatches(services))
  return json(batchAnswer(batch))
}

/** Files may expire earlier than the setting says, not later. */
function outputSeconds({ output_expires_after: asked }: NewBatch, mostDays: number): number | null {
  if (!asked) return null
  const most = mostDays * DAY_SECONDS
  if (asked.seconds > most) throw mistake('output_expires_after.seconds', `must be at most ${most}`)
  return asked.seconds
}

function idempotencyKeyOf(header: string | undefined): string | null {
  if (header === undefined || header === '') return null
  if (header.length <= LONGEST_IDEMPOTENCY_KEY && isStorable(header)) return header
  throw mistake('Idempotency-Key', `must have at most ${LONGEST_IDEMPOTENCY_KEY} characters`)
}

/** The same for the same body, whatever the order of its members. */
function hashOf(body: {
  readonly input_file_id: string
  readonly endpoint: string
  readonly metadata: Readonly<Record<string, string>> | null
  readonly output_seconds: number | null
}): string {
  const { input_file_id, endpoint, metadata, output_seconds } = body
  const pairs = metadata && Object.entries(metadata).sort(([one], [other]) => (one < other ? -1 : 1))
  return digestOf(
    JSON.stringify([input_file_id, endpoint, pairs, ...(output_seconds === null ? [] : [output_seconds])]),
  )
}
