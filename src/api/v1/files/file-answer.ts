import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { FileRecord } from '../../../stores/sql/batches/file-records.ts'
import { unixSeconds } from '../openai-list.ts'

export const fileObject = lazily(() =>
  z.object({
    id: z.string(),
    object: z.literal('file'),
    bytes: z.int(),
    created_at: z.int().describe('Unix seconds.'),
    expires_at: z.int().describe('Unix seconds.'),
    filename: z.string(),
    purpose: z.enum(['batch', 'batch_output']),
    status: z.literal('processed'),
    status_details: z.null(),
  }),
)

/** A file, as OpenAI's API shows it. */
export function fileAnswer(record: FileRecord): z.output<ReturnType<typeof fileObject>> {
  return {
    id: record.file_id,
    object: 'file',
    bytes: Number(record.bytes),
    created_at: unixSeconds(record.created_at),
    expires_at: unixSeconds(record.expires_at),
    filename: record.filename,
    purpose: record.purpose,
    status: 'processed',
    status_details: null,
  }
}

/** The same for an unknown file and for one of another owner. */
export function fileNotFound(): GatewayError {
  return new GatewayError('not_found', 'There is no such file.', { param: 'file_id', code: 'file_not_found' })
}

export const fileParams = () => z.object({ file_id: z.string() })
