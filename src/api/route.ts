import type * as z from 'zod'
import type { Permission } from '../identity/permissions.ts'
import type { SessionStanding } from '../identity/session-caller.ts'
import type { GatewayError } from '../lib/errors.ts'
import type { Answer } from '../pipeline/answer.ts'
import type { Scope } from './scope.ts'

export interface ResponseContract {
  readonly description: string
  /** The media types of a response, beside JSON where it has a schema. */
  readonly contentType?: string | readonly string[]
  readonly schema?: () => z.ZodType
}

type Header = (name: string) => string | undefined

/** The inputs and outputs of a route. The same object checks its requests and describes it in the OpenAPI document.
 *  Schemas are built at first use: building all of them would slow down every start. */
export interface RouteContract {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With `{name}` for parameters, as OpenAPI writes them. The last one may be followed by a verb:
   *  `{model}:countTokens`. */
  readonly path: string
  /** The address of the route, where it differs from `path`, under which it is counted, reported and described. */
  readonly address?: string
  /** Other paths of the same route, with the same parameters. */
  readonly aliases?: readonly string[]
  /** The path ends in a parameter that may hold slashes. */
  readonly open?: true
  readonly summary: string
  /** A second response header for the request's id, which clients of this path expect. */
  readonly requestIdHeader?: string
  readonly tag:
    | 'Models'
    | 'Batches'
    | 'Tools'
    | 'Health'
    | 'Configuration'
    | 'Identity'
    | 'Accounts'
    | 'Spend'
    | 'Audit'
    | 'Documentation'
  /** Who may call: `admin` is a caller with the permission, `session` a browser session. There is no default: a route
   *  without it does not compile. */
  readonly auth: 'public' | 'caller' | 'admin' | 'session'
  /** Goes with `admin`, which accepts a key or the cookie of a session: the caller needs one of these. Without a
   *  permission the route refuses every caller. */
  readonly permission?: Permission | readonly Permission[]
  /** Goes with `admin`: the handler limits its answer to the caller's reach (`reachOf`); `own`: also what a person owns,
   *  whatever their roles. Without it the route is only for callers with unlimited reach. */
  readonly scoped?: true | 'own'
  /** Goes with `public` and `caller`: the cookie of a session is accepted too. */
  readonly takesSession?: true
  /** Goes with sessions: the incomplete standings that may call the route too. */
  readonly standings?: readonly SessionStanding[]
  /** The name of the action in the audit, where method and path do not give it. Routes outside of the administration
   *  are audited only if they have it. */
  readonly action?: string
  /** The route exists only where batches are on. Elsewhere it answers 404 to every caller. */
  readonly ofBatches?: true
  /** The route runs a model: its refusals count as failed model calls. */
  readonly modelCall?: true
  readonly params?: () => z.ZodObject
  readonly query?: () => z.ZodObject
  /** A JSON body, read and checked before the handler gets it unchanged. */
  readonly json?: () => z.ZodType
  /** Goes with `json`, which goes on elsewhere: integers that a double would round stay as they are written. */
  readonly exact?: true
  /** A body that is documented here and read as bytes by the handler. */
  readonly body?: { readonly schema: () => z.ZodType; readonly contentType: string }
  readonly responses: Readonly<Record<number, ResponseContract>>
  /** Writes the error body where the clients of this path expect another shape than the usual one. */
  readonly errorBody?: (error: GatewayError, requestId: string, header: Header) => object
  /** People open it in a browser: failures are pages for clients that prefer HTML. */
  readonly errorPages?: true
  /** The headers that may carry the credential instead of Authorization; default, for clients: `api-key`. */
  readonly credentialHeader?: string | readonly string[]
  /** A parameter of the query that may carry it too, where clients of this path send it so. */
  readonly credentialQuery?: string
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
