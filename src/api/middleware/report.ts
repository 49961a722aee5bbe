import { measured } from '../../lib/clock.ts'
import type { Exchange } from '../exchange.ts'
import type { ApiServices } from '../scope.ts'

/** Reports a request unless its handler does it, as for a model call, which is reported when its answer ends. */
export function report(services: ApiServices, exchange: Exchange, status: number): void {
  if (exchange.reported) return
  const { c, contract, caller, failure } = exchange
  services.telemetry.emit({
    type: 'request.finished',
    at: new Date(services.clock.now()).toISOString(),
    requestId: exchange.requestId,
    method: c.req.method,
    route: contract?.path ?? '',
    modelCall: contract?.modelCall === true,
    keyId: caller?.keyId ?? caller?.kind ?? '',
    teamId: caller?.teamId ?? '',
    organizationId: caller?.organizationId ?? '',
    userId: caller?.userId ?? '',
    status,
    errorType: failure?.row.type ?? '',
    code: failure?.code ?? failure?.failure ?? '',
    scope: failure?.scope ?? '',
    totalMs: measured(performance.now() - exchange.arrivedAt),
  })
  services.flushCounters(c.env.client)
}
