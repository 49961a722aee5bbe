import type { GatewayError } from '../lib/errors.ts'
import type { CallFinished } from '../telemetry/events.ts'

/** The batch of a model call that is one of its items. */
export interface BatchMark {
  readonly batchId: string
  /** The call's id. A try that runs again after a crash has the id that it had: it is settled and recorded once. */
  readonly callId: string
  /** Whether the item is to be tried again after this failure, which must cost nothing then. It may be asked twice. */
  repeats(failure: GatewayError): boolean
  /** Called once when the call has ended, before it is settled. */
  finished(event: CallFinished): void
}
