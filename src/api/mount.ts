import { zValidator } from '@hono/zod-validator'
import type { Context, Hono, MiddlewareHandler } from 'hono'
import type * as z from 'zod'
import { isSession } from '../identity/session-caller.ts'
import { GatewayError } from '../lib/errors.ts'
import { lazily } from '../lib/lazily.ts'
import { describeError } from '../lib/log.ts'
import type { Answer } from '../pipeline/answer.ts'
import { authenticate, count, sessionClientOf } from './authenticate.ts'
import { type Env, type Exchange, openExchange } from './exchange.ts'
import { asFailure, failureAnswer } from './failures.ts'
import { audit } from './middleware/audit.ts'
import { readJson } from './middleware/read-json.ts'
import { refuseCompressed } from './middleware/refuse-compressed.ts'
import { report } from './middleware/report.ts'
import { siteOf } from './middleware/site.ts'
import type { Route, RouteContract } from './route.ts'
import type { ApiServices, Scope } from './scope.ts'

/** Puts a route into the app. One handler does it all, which the router calls directly: authentication and limits first,
 *  then the route's input, then its own handler; whatever came of it is answered, reported and audited. */
export function mount(app: Hono<Env>, services: ApiServices, route: Route): void {
  const { contract, handler } = route
  const { max_json_bytes: limit } = services.config.general_settings
  const named = contract.path.replace(/\{(\w+)\}/g, ':$1')
  const path = contract.open ? `${named}{.+}` : named
  const { params, query } = contract
  const validators = lazily(() => [
    ...(params ? [validator('param', params())] : []),
    ...(query ? [validator('query', query())] : []),
  ])
  const jsonSchema = contract.json && lazily(contract.json)
  app.on(contract.method.toUpperCase(), path, async (c) => {
    const exchange = openExchange(c, contract)
    let response: Response
    try {
      if (contract.auth !== 'public' || contract.takesSession || contract.action)
        await authenticate(services, exchange, contract)
      if (contract.modelCall || jsonSchema) takeMemory(services, exchange)
      for (const validate of validators()) await validate(c, nothingElse)
      if (jsonSchema) refuseCompressed(c.req.header('content-encoding'))
      const json = jsonSchema
        ? await readJson(
            { client: c.env.client, footprint: exchange.footprint },
            c.req.header('content-type'),
            jsonSchema(),
            limit,
          )
        : undefined
      const answer: Answer = await handler(scopeOf(services, exchange, json) as Scope<never>)
      response = respond(services, exchange, answer)
    } catch (error) {
      response = failed(services, exchange, error)
    }
    audit(services, exchange, response.status)
    report(services, exchange, response.status)
    return response
  })
}

/** Answers a request that no route has taken, in the words of the route at its path. */
export function refuse(c: Context<Env>, services: ApiServices, thrown: unknown, near?: RouteContract): Response {
  const exchange = openExchange(c)
  const response = failed(services, exchange, thrown, near)
  report(services, exchange, response.status)
  return response
}

/** From now on its body and its answer are counted, until the answer has been taken. */
function takeMemory({ footprints }: ApiServices, exchange: Exchange): void {
  const { caller } = exchange
  const footprint = footprints.open(caller?.keyId ?? caller?.kind ?? '')
  exchange.footprint = footprint
  exchange.c.env.client.ended(footprint.release)
}

function validator(target: 'param' | 'query', schema: z.ZodObject): MiddlewareHandler {
  return zValidator(target, schema, (result) => {
    if (result.success) return
    const issue = result.error.issues[0]
    const name = issue?.path.map(String).join('.') ?? target
    throw new GatewayError('invalid_request', `${name}: ${issue?.message}`, { param: name })
  })
}

const nothingElse = async () => {}

function scopeOf(services: ApiServices, exchange: Exchange, json: unknown): Scope {
  const { c } = exchange
  const valid = c.req.valid as (target: string) => unknown
  return {
    services,
    client: c.env.client,
    footprint: exchange.footprint,
    requestId: exchange.requestId,
    arrivedAt: exchange.arrivedAt,
    address: exchange.address,
    header: (name) => c.req.header(name),
    caller() {
      if (!exchange.caller) throw new TypeError('a public route has no caller')
      return exchange.caller
    },
    session() {
      const { caller } = exchange
      return caller && isSession(caller) ? caller.session : undefined
    },
    sessionClient: () => sessionClientOf(exchange),
    site: () => siteOf(c.req),
    count: () => count(services, exchange),
    reportsItself() {
      exchange.reported = true
    },
    audits(details) {
      exchange.audited = { ...exchange.audited, ...details }
    },
    input: { params: valid.call(c.req, 'param'), query: valid.call(c.req, 'query'), json },
  }
}

/** The answer, under the request's id. */
function respond(services: ApiServices, exchange: Exchange, answer: Answer, near = exchange.contract): Response {
  const { requestId, rateHeaders } = exchange
  // What the pipeline or a failure says of limits is the later word.
  const headers = rateHeaders ? { ...rateHeaders, ...answer.headers } : { ...answer.headers }
  headers['x-request-id'] = requestId
  if (near?.requestIdHeader) headers[near.requestIdHeader] = requestId
  return services.toResponse({ status: answer.status, headers, body: answer.body })
}

/** Whatever was thrown, as the client hears it. */
function failed(services: ApiServices, exchange: Exchange, thrown: unknown, near = exchange.contract): Response {
  const error = asFailure(thrown)
  const { requestId } = exchange
  exchange.failure = error
  if (error.failure === 'internal') services.log.error('internal', { requestId, error: causeOf(error) })
  if (error.failure === 'database_unavailable') {
    services.log.warn('database.away', { requestId, error: describeError(error.cause) })
  }
  return respond(services, exchange, failureAnswer(error, near?.errorBody?.(error, requestId)), near)
}

function causeOf(error: GatewayError): string {
  const { cause } = error
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}
