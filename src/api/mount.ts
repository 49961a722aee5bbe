import { zValidator } from '@hono/zod-validator'
import type { Context, Hono, MiddlewareHandler } from 'hono'
import type * as z from 'zod'
import { sentence } from '../config/sentences.ts'
import { isSession } from '../identity/session-caller.ts'
import { type FailureName, GatewayError } from '../lib/errors.ts'
import { lazily } from '../lib/lazily.ts'
import { describeError } from '../lib/log.ts'
import type { Answer } from '../pipeline/answer.ts'
import { authenticate, count, sessionClientOf } from './authenticate.ts'
import { errorPage, prefersPage } from './error-page.ts'
import { type Env, type Exchange, openExchange } from './exchange.ts'
import { asFailure, failureAnswer } from './failures.ts'
import { audit } from './middleware/audit.ts'
import { readJson } from './middleware/read-json.ts'
import { refuseCompressed } from './middleware/refuse-compressed.ts'
import { report } from './middleware/report.ts'
import { siteOf } from './middleware/site.ts'
import type { Route, RouteContract } from './route.ts'
import type { ApiServices, Scope } from './scope.ts'

/** What the validators of a route leave for its handler. */
interface Inputs {
  readonly in: object
  readonly out: { readonly param: unknown; readonly query: unknown; readonly json: unknown }
}

/** Puts a route into the app: authentication and limits first, then a validator for each input of its contract, then its
 *  own handler; the outcome is answered, reported and audited. A route without inputs, such as every model call, is one
 *  function, which the router calls directly. */
export function mount(app: Hono<Env>, services: ApiServices, route: Route): void {
  const { contract, handler } = route
  const paths = [contract.address ?? contract.path, ...(contract.aliases ?? [])].map((path) =>
    routerPath(path, contract.open),
  )
  const method = contract.method.toUpperCase()
  const validators = validatorsOf(services, contract)

  const isAnonymous = contract.auth === 'public' && !contract.takesSession && !contract.action
  const takesMemory = contract.modelCall || contract.json !== undefined

  function enter(exchange: Exchange): Promise<void> | undefined {
    const authenticating = isAnonymous ? undefined : authenticate(services, exchange, contract)
    if (!takesMemory) return authenticating
    if (authenticating) return authenticating.then(() => takeMemory(services, exchange))
    takeMemory(services, exchange)
    return undefined
  }
  const handle = (exchange: Exchange): Answer | Promise<Answer> => handler(scopeOf(services, exchange) as Scope<never>)
  function leave(exchange: Exchange, response: Response): Response {
    audit(services, exchange, response.status)
    report(services, exchange, response.status)
    return response
  }

  if (validators.length === 0) {
    app.on(method, paths, async (c) => {
      const exchange = openExchange(c, contract)
      let response: Response
      try {
        const entering = enter(exchange)
        if (entering) await entering
        response = respond(services, exchange, await handle(exchange))
      } catch (error) {
        response = failed(services, exchange, error)
      }
      return leave(exchange, response)
    })
    return
  }
  const open: MiddlewareHandler<Env> = async (c, next) => {
    const exchange = openExchange(c, contract)
    c.set('exchange', exchange)
    try {
      await enter(exchange)
    } catch (error) {
      return leave(exchange, failed(services, exchange, error))
    }
    // `refuse` has turned what a validator or the handler threw into an answer.
    await next()
    leave(exchange, c.res)
    return undefined
  }
  app.on(method, paths, open, ...validators, async (c) =>
    respond(services, c.var.exchange, await handle(c.var.exchange)),
  )
}

/** A path as the router writes it. A parameter before a verb holds the verb too, and may hold slashes. */
function routerPath(path: string, open: true | undefined): string {
  const named = path.replace(/\{(\w+)\}(:\w+)?/g, (_, name, verb) => (verb ? `:${name}{.+${verb}}` : `:${name}`))
  return open ? `${named}{.+}` : named
}

/** Answers an error of a route's validators or handler, or a request that matches no route, in the shape of the route
 *  `near` its path. */
export function refuse(c: Context<Env>, services: ApiServices, thrown: unknown, near?: RouteContract): Response {
  if (c.var.exchange) return failed(services, c.var.exchange, thrown)
  const exchange = openExchange(c)
  const response = failed(services, exchange, thrown, near)
  report(services, exchange, response.status)
  return response
}

/** Counts the memory of the request's body and answer until the client has taken the answer. */
function takeMemory({ footprints }: ApiServices, exchange: Exchange): void {
  const { caller } = exchange
  const footprint = footprints.open(caller?.keyId ?? caller?.kind ?? '')
  exchange.footprint = footprint
  exchange.c.env.client.ended(footprint.release)
}

/** In the order in which they refuse. Each builds its schema with its first request. */
function validatorsOf(services: ApiServices, { params, query, json, exact }: RouteContract): MiddlewareHandler<Env>[] {
  return [
    ...(params ? [validator('param', params)] : []),
    ...(query ? [validator('query', query)] : []),
    ...(json ? [jsonValidator(services, json, exact)] : []),
  ]
}

function validator(target: 'param' | 'query', schema: () => z.ZodObject): MiddlewareHandler<Env> {
  const validate = lazily(() =>
    zValidator(
      target,
      schema(),
      (result) => {
        if (result.success) return
        const issue = result.error.issues[0]
        const name = issue?.path.map(String).join('.') ?? target
        throw new GatewayError('invalid_request', `${name}: ${issue?.message}`, { param: name })
      },
      { validationFunction: (built, value) => built.safeParseAsync(value, { error: mistakeInAddress }) },
    ),
  )
  return (c, next) => validate()(c as Context, next)
}

/** In the words for mistakes in bodies. What is given twice is a list. */
const mistakeInAddress = (issue: z.core.$ZodRawIssue): string =>
  Array.isArray(issue.input) ? 'must be given once' : sentence(issue)

/** Hono's own validator would read a body of any length, and would not pass it on as it was sent. */
function jsonValidator({ config }: ApiServices, schema: () => z.ZodType, exact = false): MiddlewareHandler<Env> {
  const built = lazily(schema)
  return async (c, next) => {
    const { footprint } = c.var.exchange
    const { max_json_bytes: limit } = config.general_settings
    refuseCompressed(c.req.header('content-encoding'))
    const sent = await readJson({ client: c.env.client, footprint }, c.req.header('content-type'), built(), {
      limit,
      exact,
    })
    c.req.addValidatedData('json', sent as object)
    await next()
  }
}

function scopeOf(services: ApiServices, exchange: Exchange): Scope {
  const { c } = exchange
  const { req } = c as Context<Env, string, Inputs>
  return {
    services,
    client: c.env.client,
    footprint: exchange.footprint,
    requestId: exchange.requestId,
    arrivedAt: exchange.arrivedAt,
    // Not as a getter: a literal that has one gets a hidden class of its own with each call.
    address: exchange.address || services.clientAddress(c.env.client.address, c.req.header('x-forwarded-for')),
    isHead: c.req.method === 'HEAD',
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
    alsoAudits(action, details) {
      exchange.alsoAudited = [...exchange.alsoAudited, { ...details, action }]
    },
    input: { params: req.valid('param'), query: req.valid('query'), json: req.valid('json') },
  }
}

/** The answer, under the request's id. */
function respond(services: ApiServices, exchange: Exchange, answer: Answer, near = exchange.contract): Response {
  const { requestId, rateHeaders } = exchange
  // The headers of the pipeline or of a failure are newer than those of the count.
  const headers = rateHeaders ? { ...rateHeaders, ...answer.headers } : { ...answer.headers }
  headers['x-request-id'] = requestId
  if (near?.requestIdHeader) headers[near.requestIdHeader] = requestId
  if (isPrivate(exchange, near)) headers['cache-control'] ??= 'no-store'
  return services.toResponse({ status: answer.status, headers, body: answer.body })
}

/** Whether browsers must not cache the answer: they could show it to the next person, or after a change. */
function isPrivate({ c }: Exchange, near: RouteContract | undefined): boolean {
  if (near) return near.auth === 'admin' || near.tag === 'Accounts' || near.tag === 'Health'
  // No route has matched.
  return c.req.path.startsWith('/ui/api/') || c.req.path.startsWith('/auth/')
}

/** The response to a request that failed, and its log line where the operator must know. */
function failed(services: ApiServices, exchange: Exchange, thrown: unknown, near = exchange.contract): Response {
  const error = asFailure(thrown)
  const { requestId } = exchange
  exchange.failure = error
  logFailure(services, error, requestId)
  const answer = failureAnswer(
    error,
    near?.errorBody?.(error, requestId, (name) => exchange.c.req.header(name)),
  )
  const isPage = near?.errorPages && prefersPage(exchange.c.req.header('accept'))
  return respond(services, exchange, isPage ? errorPage(error, answer) : answer, near)
}

/** The log events of stores that are away. */
const AWAY: { readonly [name in FailureName]?: string } = {
  database_unavailable: 'database.away',
  blobs_unavailable: 'blobs.away',
}

function logFailure({ log }: ApiServices, { failure, cause }: GatewayError, requestId: string): void {
  if (failure === 'internal') log.error('internal', { requestId, error: stackOf(cause) })
  const away = AWAY[failure]
  if (away) log.warn(away, { requestId, error: describeError(cause) })
}

function stackOf(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}
