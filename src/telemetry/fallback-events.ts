import type { Classification } from '../lib/errors.ts'

/** The log of fallback events in the shared store, and how many of the newest it keeps. */
export const FALLBACK_LOG = { log: 'fallback-events', keep: 1000 } as const

/** An attempt failed and another one followed. */
export interface FallbackEvent {
  readonly timestamp: string
  readonly source_model: string
  readonly target_model: string
  /** Missing in what earlier builds recorded. */
  readonly call_id?: string
  readonly error_classification: Classification
  readonly success: boolean
}
