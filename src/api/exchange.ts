import type { Context } from 'hono'
import type { GatewayError } from '../lib/errors.ts'
import type { Footprint } from '../lib/footprints.ts'
import { newTimedId } from '../lib/ids.ts'
import type { Caller } from '../pipeline/caller.ts'
import type { Client } from '../pipeline/client.ts'
import type { AuditDetails } from '../telemetry/audit.ts'
import type { RouteContract } from './route.ts'

/** The environment that a runtime passes with a request. */
export interface Env {
  Bindings: { client: Client }
  Variables: { exchange: Exchange }
}

/** The state of one request while it is answered. One object, because a context variable and a middleware for each
 *  member would slow down every call. */
export interface Exchange {
  readonly c: Context<Env>
  readonly requestId: string
  /** `performance.now()` when the request arrived. */
  readonly arrivedAt: number
  /** The contract of the matched route; undefined where none matches. */
  readonly contract: RouteContract | undefined
  /** The authenticated caller. */
  caller: Caller | undefined
  /** The client's own address; '' before authentication. */
  address: string
  /** Headers about the caller's limits, once the request is counted. */
  rateHeaders: Readonly<Record<string, string>> | undefined
  /** The memory that the request holds. */
  footprint: Footprint
  failure: GatewayError | undefined
  /** The handler reports the request by itself. */
  reported: boolean
  /** Details of the audit event that the handler adds. */
  audited: AuditDetails | undefined
  /** Further audit events of the same request. */
  alsoAudited: readonly (AuditDetails & { readonly action: string })[]
}

export function openExchange(c: Context<Env>, contract?: RouteContract): Exchange {
  return {
    c,
    requestId: requestIdOf(c.req.header('x-request-id')),
    arrivedAt: performance.now(),
    contract,
    caller: undefined,
    address: '',
    rateHeaders: undefined,
    footprint: NO_FOOTPRINT,
    failure: undefined,
    reported: false,
    audited: undefined,
    alsoAudited: NONE,
  }
}

const NONE: readonly never[] = []

/** The footprint of a request without a body. */
const NO_FOOTPRINT: Footprint = { add() {}, release() {} }

const LONGEST_ID = 128

/** The client's own id if it is short and printable, else a new one. */
function requestIdOf(own: string | undefined): string {
  return own && own.length <= LONGEST_ID && /^[\x21-\x7e]+$/.test(own) ? own : newTimedId('req')
}
