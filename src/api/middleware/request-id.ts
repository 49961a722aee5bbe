import type { MiddlewareHandler } from 'hono'
import { newId } from '../../lib/ids.ts'
import type { Answer } from '../../pipeline/call.ts'
import type { RouteContract } from '../route.ts'
import type { Env } from './env.ts'

const LONGEST = 128

/** Names the request: by the client's own id when it is short and printable, else by ours. */
export const requestId: MiddlewareHandler<Env> = async (c, next) => {
  c.set('arrivedAt', performance.now())
  const own = c.req.header('x-request-id')
  c.set('requestId', own && own.length <= LONGEST && /^[\x21-\x7e]+$/.test(own) ? own : newId('req'))
  await next()
}

export function withRequestId(answer: Answer, id: string, contract?: Pick<RouteContract, 'requestIdHeader'>): Answer {
  const further = contract?.requestIdHeader
  return { ...answer, headers: { ...answer.headers, 'x-request-id': id, ...(further ? { [further]: id } : {}) } }
}
