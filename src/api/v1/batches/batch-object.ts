import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import type { BatchRecord } from '../../../stores/sql/batches/batch-records.ts'
import { unixSeconds } from '../openai-list.ts'

const unixTime = () => z.int().describe('Unix seconds.')

/** In the order of a batch's life. */
export const BATCH_STATUSES = [
  'validating',
  'in_progress',
  'finalizing',
  'completed',
  'failed',
  'expired',
  'cancelling',
  'cancelled',
] as const satisfies readonly BatchRecord['status'][]

/** A batch as OpenAI's API writes it. */
export const batchObject = lazily(() =>
  z.object({
    id: z.string(),
    object: z.literal('batch'),
    endpoint: z.string(),
    model: z.string().nullable().describe('The model of all results, where it is one.'),
    errors: z
      .object({
        object: z.literal('list'),
        data: z.array(
          z.object({
            code: z.string(),
            message: z.string(),
            param: z.string().nullable(),
            line: z.int().nullable().describe('Of the input file, from 1.'),
          }),
        ),
      })
      .nullable()
      .describe('Why the batch has failed: up to 100 mistakes of its input file.'),
    input_file_id: z.string(),
    completion_window: z.string(),
    status: z.enum(BATCH_STATUSES),
    output_file_id: z.string().nullable(),
    error_file_id: z.string().nullable(),
    created_at: unixTime(),
    in_progress_at: unixTime().nullable(),
    expires_at: unixTime(),
    finalizing_at: unixTime().nullable(),
    completed_at: unixTime().nullable(),
    failed_at: unixTime().nullable(),
    expired_at: unixTime().nullable(),
    cancelling_at: unixTime().nullable(),
    cancelled_at: unixTime().nullable(),
    request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
    usage: z.object({
      input_tokens: z.int(),
      input_tokens_details: z.object({ cached_tokens: z.int() }),
      output_tokens: z.int(),
      output_tokens_details: z.object({ reasoning_tokens: z.int() }),
      total_tokens: z.int(),
    }),
    metadata: z.record(z.string(), z.string()).nullable(),
  }),
)

export function batchAnswer(batch: BatchRecord): z.output<ReturnType<typeof batchObject>> {
  const { errors, input_tokens, output_tokens } = batch
  return {
    id: batch.batch_id,
    object: 'batch',
    endpoint: batch.endpoint,
    model: batch.model || null,
    errors: errors && { object: 'list', data: errors.map((error) => ({ ...error })) },
    input_file_id: batch.input_file_id,
    completion_window: batch.completion_window,
    status: batch.status,
    output_file_id: batch.output_file_id,
    error_file_id: batch.error_file_id,
    created_at: unixSeconds(batch.created_at),
    in_progress_at: secondsOrNull(batch.in_progress_at),
    expires_at: unixSeconds(batch.expires_at),
    finalizing_at: secondsOrNull(batch.finalizing_at),
    completed_at: secondsOrNull(batch.completed_at),
    failed_at: secondsOrNull(batch.failed_at),
    expired_at: secondsOrNull(batch.expired_at),
    cancelling_at: secondsOrNull(batch.cancelling_at),
    cancelled_at: secondsOrNull(batch.cancelled_at),
    request_counts: { total: batch.requests, completed: batch.completed, failed: batch.failed },
    usage: {
      input_tokens: Number(input_tokens),
      input_tokens_details: { cached_tokens: Number(batch.cached_input_tokens) },
      output_tokens: Number(output_tokens),
      output_tokens_details: { reasoning_tokens: Number(batch.reasoning_tokens) },
      total_tokens: Number(input_tokens) + Number(output_tokens),
    },
    metadata: batch.metadata,
  }
}

const secondsOrNull = (time: string | null) => (time === null ? null : unixSeconds(time))
