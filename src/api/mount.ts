import { zValidator } from '@hono/zod-validator'
import type { Context, Hono, MiddlewareHandler } from 'hono'
import type * as z from 'zod'
import { requirePermission } from '../identity/permissions.ts'
import { GatewayError } from '../lib/errors.ts'
import { describeError } from '../lib/log.ts'
import { tokensOfCharacters } from '../modes/usage.ts'
import { admitRequest } from '../pipeline/admit.ts'
import type { Caller } from '../pipeline/caller.ts'
import { asFailure, failureAnswer } from './failures.ts'
import { bearerOf } from './middleware/bearer.ts'
import type { Env } from './middleware/env.ts'
import { readJson } from './middleware/read-json.ts'
import { withRequestId } from './middleware/request-id.ts'
import { toResponse } from './respond.ts'
import type { Route, RouteContract } from './route.ts'
import type { ApiServices, Scope } from './scope.ts'

/** Puts a route into the app: authentication and limits first, then its input, then its handler. */
export function mount(app: Hono<Env>, services: ApiServices, route: Route): void {
  const { contract, handler } = route
  const path = contract.path.replace(/\{(\w+)\}/g, ':$1')
  const validators = [
    ...(contract.params ? [validator('param', contract.params)] : []),
    ...(contract.query ? [validator('query', contract.query)] : []),
  ]
  const authenticate: MiddlewareHandler<Env> = async (c, next) => {
    c.set('contract', contract)
    c.set('params', c.req.param())
    if (contract.auth !== 'public') {
      const { credentialHeader } = contract
      const own = credentialHeader === undefined ? undefined : c.req.header(credentialHeader)
      const address = services.clientAddress(c.env.client.address, c.req.header('x-forwarded-for'))
      const caller = await services.identify(bearerOf(c.req.header('authorization')) ?? own, address)
      c.set('caller', caller)
      c.set('address', address)
      if (contract.auth === 'admin') allow(caller, contract)
      const looking = services.live.attend((work) => c.env.client.defer(work))
      if (looking) await looking
      // A model call is counted with everything else that decides it.
      if (!contract.modelCall) await count(c, services)
    }
    await next()
  }
  const run = async (c: Context<Env>) => {
    const limit = services.config.general_settings.max_json_bytes
    const body = contract.json
      ? await readJson(c.env.client, c.req.header('content-type'), contract.json, limit)
      : undefined
    const answer = await handler(scopeOf(c, services, body) as Scope<never>)
    const headers = { ...answer.headers, ...c.get('rateHeaders') }
    return toResponse(withRequestId({ ...answer, headers }, c.get('requestId'), contract))
  }
  app.on(contract.method.toUpperCase(), path, authenticate, ...validators, run)
}

/** Counts a request by what its headers tell of it. */
async function count(c: Context<Env>, services: ApiServices): Promise<void> {
  const [caller, address = ''] = [c.get('caller'), c.get('address')]
  // Who has no limits is counted nowhere, but must not be served either while a store that has to be there is away.
  if (!caller || (caller.versions.length === 0 && c.get('contract')?.tag !== 'Models')) return
  const length = Number(c.req.header('content-length') ?? 0)
  const tokens = /^multipart\//i.test(c.req.header('content-type') ?? '') ? 1 : tokensOfCharacters(length)
  const counted = await admitRequest(services, { caller, address, requestId: c.get('requestId'), tokens })
  c.set('caller', counted.caller)
  c.set('rateHeaders', counted.headers)
}

function allow(caller: Caller, { path, permission }: RouteContract): void {
  if (permission === undefined) throw new TypeError(`the admin route ${path} names no permission`)
  requirePermission(caller, permission)
}

function validator(target: 'param' | 'query', schema: z.ZodObject): MiddlewareHandler {
  return zValidator(target, schema, (result) => {
    if (result.success) return
    const issue = result.error.issues[0]
    const name = issue?.path.map(String).join('.') ?? target
    throw new GatewayError('invalid_request', `${name}: ${issue?.message}`, { param: name })
  })
}

function scopeOf(c: Context<Env>, services: ApiServices, body: unknown): Scope {
  const valid = (target: string) => (c.req.valid as (target: string) => unknown).call(c.req, target)
  return {
    services,
    client: c.env.client,
    requestId: c.get('requestId'),
    arrivedAt: c.get('arrivedAt'),
    contract: c.get('contract') as Scope['contract'],
    get url() {
      return new URL(c.req.url)
    },
    contentType: c.req.header('content-type'),
    header: (name) => c.req.header(name),
    caller() {
      const caller = c.get('caller')
      if (!caller) throw new TypeError('a public route has no caller')
      return caller
    },
    get address() {
      return c.get('address') ?? ''
    },
    count: () => count(c, services),
    reportsItself: () => c.set('reported', true),
    audits: (details) => c.set('audited', { ...c.get('audited'), ...details }),
    input: { params: valid('param'), query: valid('query'), json: body },
  }
}

/** Whatever was thrown, as the client hears it: in the words of the route, or of those at its path. */
export function failed(
  thrown: unknown,
  c: Context<Env>,
  services: ApiServices,
  contract: RouteContract | undefined = c.get('contract'),
): Response {
  const error = asFailure(thrown)
  c.set('failure', error)
  const requestId = c.get('requestId')
  if (error.failure === 'internal') services.log.error('internal', { requestId, error: causeOf(error) })
  if (error.failure === 'database_unavailable') {
    services.log.warn('database.away', { requestId, error: describeError(error.cause) })
  }
  const answer = failureAnswer(error, contract?.errorBody?.(error, requestId))
  const headers = { ...c.get('rateHeaders'), ...answer.headers }
  return toResponse(withRequestId({ ...answer, headers }, requestId, contract))
}

function causeOf(error: GatewayError): string {
  const { cause } = error
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}
