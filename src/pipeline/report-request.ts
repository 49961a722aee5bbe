import { measured } from '../lib/clock.ts'
import type { GatewayError } from '../lib/errors.ts'
import { isoTime } from '../lib/iso-time.ts'
import type { RequestFinished } from '../telemetry/events.ts'
import type { Caller } from './caller.ts'
import type { Client } from './client.ts'
import type { PipelineServices } from './services.ts'

interface EndedRequest extends Pick<RequestFinished, 'requestId' | 'method' | 'route' | 'modelCall' | 'status'> {
  /** `performance.now()` when it arrived. */
  readonly arrivedAt: number
  readonly client: Client
  /** undefined before it was known who calls. */
  readonly caller: Caller | undefined
  readonly failure: GatewayError | undefined
}

/** Reports a request that did not become a model call. */
export function reportRequest(
  { telemetry, clock, flushCounters }: Pick<PipelineServices, 'telemetry' | 'clock' | 'flushCounters'>,
  { requestId, method, route, modelCall, status, arrivedAt, client, caller, failure }: EndedRequest,
): void {
  telemetry.emit({
    type: 'request.finished',
    at: isoTime(clock.now()),
    requestId,
    method,
    route,
    modelCall,
    keyId: caller?.keyId ?? caller?.kind ?? '',
    teamId: caller?.teamId ?? '',
    organizationId: caller?.organizationId ?? '',
    userId: caller?.userId ?? '',
    status,
    errorType: failure?.row.type ?? '',
    code: failure?.code ?? failure?.failure ?? '',
    scope: failure?.scope ?? '',
    totalMs: measured(performance.now() - arrivedAt),
  })
  flushCounters(client)
}
