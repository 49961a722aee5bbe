import { describeError } from '../../lib/log.ts'
import type { Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'

/** Runs a step of the end of a call and logs its failure: a failed report must not prevent the settlement. */
export function trying<T>(services: PipelineServices, call: Call, what: () => T): T | undefined {
  try {
    return what()
  } catch (error) {
    logFailed(services, call, error)
    return undefined
  }
}

/** Logs that the end of a call failed in part. */
export function logFailed({ log }: PipelineServices, { id: callId }: Call, error: unknown): void {
  log.error('finish.failed', { callId, error: describeError(error) })
}
