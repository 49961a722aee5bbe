import type { MiddlewareHandler } from 'hono'
import type { ApiServices } from '../scope.ts'
import type { Env } from './env.ts'

/** Reports every request that no handler reported itself, as model calls do when their answer has ended. */
export function report(services: ApiServices): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next()
    if (c.get('reported')) return
    const [contract, failure, caller] = [c.get('contract'), c.get('failure'), c.get('caller')]
    services.telemetry.emit({
      type: 'request.finished',
      at: new Date(services.clock.now()).toISOString(),
      requestId: c.get('requestId'),
      method: c.req.method,
      route: contract?.path ?? '',
      modelCall: contract?.modelCall === true,
      keyId: caller?.keyId ?? caller?.kind ?? '',
      teamId: caller?.teamId ?? '',
      status: c.res.status,
      errorType: failure?.row.type ?? '',
      totalMs: performance.now() - c.get('arrivedAt'),
    })
    services.flushCounters(c.env.client)
  }
}
