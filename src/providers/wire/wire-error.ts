import type { JsonRecord } from '../../lib/json/lenient.ts'

/** The parts of a vendor's error. */
export interface WireError {
  readonly message: string | undefined
  readonly type: string | undefined
  readonly code: string | undefined
  readonly param: string | undefined
  /** What Anthropic's `error.details` says to its clients. */
  readonly details?: JsonRecord | undefined
  /** The code of the inner error, the only place where Azure reports its filters. */
  readonly inner?: string | undefined
}
