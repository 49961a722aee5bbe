import type { Selectable } from 'kysely'
import type { Defaulted, Int4, Int8, Json, Numeric, Timestamp } from './column-types.ts'

/** A file of batches. */
export interface GatewayFileTable {
  file_id: string
  purpose: 'batch' | 'batch_output'
  filename: string
  bytes: Defaulted<Int8>
  sha256: string | null
  lines: Defaulted<Int4>
  managed_tools_line: Int4 | null
  state: Defaulted<'uploading' | 'ready' | 'removing'>
  key_id: string
  team_id: string | null
  organization_id: string | null
  user_id: string | null
  created_at: Defaulted<Timestamp>
  expires_at: Timestamp
}

/** What validation found in a line, in the words of OpenAI's API. */
export interface BatchError {
  readonly code: string
  readonly message: string
  readonly param: string | null
  readonly line: number | null
}

/** A batch notes where the requests 0, 64, 128 … begin in its input file. */
export const CHECKPOINT_ITEMS = 64

export interface BatchCheckpoint {
  readonly offset: number
  readonly line: number
}

export interface GatewayBatchTable {
  batch_id: string
  endpoint: string
  input_file_id: string
  completion_window: Defaulted<string>
  metadata: Json<Readonly<Record<string, string>>> | null
  status: Defaulted<
    'validating' | 'in_progress' | 'finalizing' | 'completed' | 'failed' | 'expired' | 'cancelling' | 'cancelled'
  >
  outcome: 'completed' | 'expired' | 'cancelled' | null
  key_id: string
  team_id: string | null
  organization_id: string | null
  user_id: string | null
  idempotency_key: string | null
  request_hash: string | null
  retry_of: string | null
  errors: Json<readonly BatchError[]> | null
  requests: Defaulted<Int4>
  checkpoints: Json<readonly BatchCheckpoint[]> | null
  next_item: Defaulted<Int4>
  completed: Defaulted<Int4>
  failed: Defaulted<Int4>
  input_tokens: Defaulted<Int8>
  cached_input_tokens: Defaulted<Int8>
  output_tokens: Defaulted<Int8>
  reasoning_tokens: Defaulted<Int8>
  cost_nano: Defaulted<Numeric>
  model: string | null
  output_file_id: string | null
  error_file_id: string | null
  due_at: Defaulted<Timestamp>
  served_at: Defaulted<Timestamp>
  lease_token: string | null
  lease_until: Timestamp | null
  created_at: Defaulted<Timestamp>
  in_progress_at: Timestamp | null
  finalizing_at: Timestamp | null
  completed_at: Timestamp | null
  failed_at: Timestamp | null
  expired_at: Timestamp | null
  cancelling_at: Timestamp | null
  cancelled_at: Timestamp | null
  expires_at: Timestamp
  output_seconds: Int4 | null
}

export type BatchStatus = Selectable<GatewayBatchTable>['status']

/** A request of a batch that was claimed. */
export interface GatewayBatchItemTable {
  batch_id: string
  item: Int4
  line: Int4 | null
  starts_at: Int8 | null
  length: Int4 | null
  custom_id: string | null
  state: Defaulted<'open' | 'completed' | 'failed'>
  tries: Defaulted<Int4>
  token: string | null
  due_at: Timestamp
  last_error: string | null
  status: Int4 | null
  error_code: string | null
  call_id: string | null
  input_tokens: Defaulted<Int8>
  output_tokens: Defaulted<Int8>
  cost_nano: Int8 | null
  claimed_at: Defaulted<Timestamp>
  ended_at: Timestamp | null
}

/** A result that may be a blob, until that is removed. */
export interface GatewayBatchBlobTable {
  batch_id: string
  item: Int4
}

/** A result line until the files are written. */
export interface GatewayBatchResultTable {
  batch_id: string
  item: Int4
  failed: boolean
  text: string | null
}
