import type * as z from 'zod'
import type { Permission } from '../identity/permissions.ts'
import type { SessionStanding } from '../identity/session-caller.ts'
import type { GatewayError } from '../lib/errors.ts'
import type { Answer } from '../pipeline/answer.ts'
import type { Scope } from './scope.ts'

export interface ResponseContract {
  readonly description: string
  /** In which forms, where no schema says that it is JSON. */
  readonly contentType?: string | readonly string[]
  readonly schema?: () => z.ZodType
}

/** What a route takes and gives. The same object checks its requests and writes its part of the OpenAPI document. Schemas
 *  are built when they are first used: those of all routes together would be a good part of every start. */
export interface RouteContract {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With `{name}` for parameters, as OpenAPI writes them. */
  readonly path: string
  /** The path ends in a parameter that may hold slashes. */
  readonly open?: true
  readonly summary: string
  /** A further response header for the request's id, where clients of this path look for it. */
  readonly requestIdHeader?: string
  readonly tag: 'Models' | 'Health' | 'Configuration' | 'Identity' | 'Accounts' | 'Spend' | 'Audit' | 'Documentation'
  /** Who may call: `admin` is a caller with the permission, `session` a browser session. There is no default: a route
   *  without it does not compile. */
  readonly auth: 'public' | 'caller' | 'admin' | 'session'
  /** Goes with `admin`, which takes the cookie of a session as it takes a key: any of these. Without it nobody gets in. */
  readonly permission?: Permission | readonly Permission[]
  /** Goes with `admin`: the handler serves each caller what lies within its reach (`reachOf`), and nothing else. `own`:
   *  also what a person owns, whatever their roles. Without it the route is for those who may do everything. */
  readonly scoped?: true | 'own'
  /** Goes with `public` and `caller`: the cookie of a session is taken too. */
  readonly takesSession?: true
  /** Goes with sessions: those that may call it although something is still wanting. */
  readonly standings?: readonly SessionStanding[]
  /** How the audit calls a write, where method and path do not say it. Routes other than of the administration are audited
   *  if they have it. */
  readonly action?: string
  /** It runs a model: refusals of it count as failed model calls. */
  readonly modelCall?: true
  readonly params?: () => z.ZodObject
  readonly query?: () => z.ZodObject
  /** A JSON body that is read and checked before the handler, which gets it as it was sent. */
  readonly json?: () => z.ZodType
  /** Documented here; read by the handler, which wants its bytes. */
  readonly body?: { readonly schema: () => z.ZodType; readonly contentType: string }
  readonly responses: Readonly<Record<number, ResponseContract>>
  /** The body of its failures, where its clients know another shape than the usual one. */
  readonly errorBody?: (error: GatewayError, requestId: string) => object
  /** A header that may carry the credential where Authorization carries none. */
  readonly credentialHeader?: string
}

type InputOf<Contract extends RouteContract> = {
  readonly params: Contract['params'] extends () => z.ZodObject ? z.output<ReturnType<Contract['params']>> : undefined
  readonly query: Contract['query'] extends () => z.ZodObject ? z.output<ReturnType<Contract['query']>> : undefined
  readonly json: Contract['json'] extends () => z.ZodType ? z.input<ReturnType<Contract['json']>> : undefined
}

export type Handler<Input> = (scope: Scope<Input>) => Answer | Promise<Answer>

export interface Route {
  readonly contract: RouteContract
  readonly handler: Handler<never>
}

export function defineRoute<const Contract extends RouteContract>(
  contract: Contract,
  handler: Handler<InputOf<Contract>>,
): Route {
  return { contract, handler: handler as Handler<never> }
}
