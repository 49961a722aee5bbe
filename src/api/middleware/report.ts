import { reportRequest } from '../../pipeline/report-request.ts'
import type { Exchange } from '../exchange.ts'
import type { ApiServices } from '../scope.ts'

/** Reports a request unless its handler does it, as for a model call, which is reported when its answer ends. */
export function report(services: ApiServices, exchange: Exchange, status: number): void {
  if (exchange.reported) return
  const { c, contract, requestId, arrivedAt, caller, failure } = exchange
  reportRequest(services, {
    requestId,
    method: c.req.method,
    route: contract?.path ?? '',
    modelCall: contract?.modelCall === true,
    status,
    arrivedAt,
    client: c.env.client,
    caller,
    failure,
  })
}
