import { hasEverywhere, hasPermission, missingPermission, ownerOf } from '../identity/grants.ts'
import type { Permission } from '../identity/permissions.ts'
import { refusal } from '../identity/refusal.ts'
import { isSession, type SessionStanding } from '../identity/session-caller.ts'
import { GatewayError } from '../lib/errors.ts'
import { tokensOfCharacters } from '../modes/usage.ts'
import { admitRequest } from '../pipeline/admit/admit-request.ts'
import type { Caller } from '../pipeline/caller.ts'
import type { Exchange } from './exchange.ts'
import { bearerOf } from './middleware/bearer.ts'
import { refuseForeign, requireNamed, requireSameOrigin, sessionToken } from './middleware/session-cookie.ts'
import type { RouteContract } from './route.ts'
import type { ApiServices } from './scope.ts'

/** Identifies the caller by a key or a session, as the route requires; counts the request, which compares the cached
 *  caller with the shared store; then refuses what the caller may not do. */
export function authenticate(
  services: ApiServices,
  exchange: Exchange,
  contract: RouteContract,
): Promise<void> | undefined {
  const { c } = exchange
  const { client } = c.env
  exchange.address = services.clientAddress(client.address, c.req.header('x-forwarded-for'))
  if (contract.auth === 'public') return contract.takesSession ? joinSession(services, exchange) : undefined
  const found = callerOf(services, exchange, contract)
  // Most model calls are of cached callers: they wait for nothing.
  if (found instanceof Promise || !contract.modelCall) return enter(services, exchange, contract, found)
  exchange.caller = found
  const reading = services.live.attend(client.defer)
  if (reading) return reading.then(() => requireAllowed(found, contract))
  requireAllowed(found, contract)
  return undefined
}

async function enter(
  services: ApiServices,
  exchange: Exchange,
  contract: RouteContract,
  found: Caller | Promise<Caller>,
): Promise<void> {
  exchange.caller = await found
  const reading = services.live.attend(exchange.c.env.client.defer)
  if (reading) await reading
  // A model call is counted with everything else that decides it.
  if (!contract.modelCall) await count(services, exchange)
  requireAllowed(exchange.caller, contract)
  if (contract.ofBatches) requireBatches(services)
}

function requireBatches({ config }: ApiServices): void {
  if (config.general_settings.embeddings_batch_enabled) return
  const message = 'Batches are off. The setting general_settings.embeddings_batch_enabled turns them on.'
  throw new GatewayError('not_found', message, { code: 'batch_disabled' })
}

/** The caller of a request that may carry both: its key wins over its session. */
function callerOf(services: ApiServices, exchange: Exchange, contract: RouteContract): Caller | Promise<Caller> {
  const { c, address } = exchange
  const { auth, takesSession } = contract
  if (auth !== 'session') {
    const credential = bearerOf(c.req.header('authorization')) ?? vendorCredential(exchange, contract)
    const token = credential === undefined && (auth === 'admin' || takesSession) ? tokenOf(exchange) : undefined
    return token === undefined ? services.identify(credential, address) : sessionOf(services, exchange, token)
  }
  const token = tokenOf(exchange)
  if (token === undefined) throw refusal('missing_session', 'This needs a session. Sign in first.')
  return sessionOf(services, exchange, token)
}

/** The tags of the API for clients: everything but the administration. */
const SERVED: ReadonlySet<RouteContract['tag']> = new Set(['Models', 'Batches', 'Tools'])

/** Clients of Azure send their key in this header, on all routes of OpenAI's API. */
const KEY_HEADER = 'api-key'

/** The key in the header where the clients of a route send it instead of in Authorization. */
function vendorCredential(
  { c }: Exchange,
  { auth, tag, credentialHeader, credentialQuery }: RouteContract,
): string | undefined {
  if (typeof credentialHeader === 'string') {
    return c.req.header(credentialHeader) ?? (credentialQuery === undefined ? undefined : c.req.query(credentialQuery))
  }
  if (auth !== 'caller' || !SERVED.has(tag)) return undefined
  for (const name of credentialHeader ?? [KEY_HEADER]) {
    const sent = c.req.header(name)
    if (sent !== undefined) return sent
  }
  return undefined
}

const tokenOf = ({ c }: Exchange) => sessionToken(c.req.header('cookie'))

async function sessionOf(services: ApiServices, exchange: Exchange, token: string): Promise<Caller> {
  requireSameOrigin(services, exchange)
  const caller = await services.sessions.find(token, sessionClientOf(exchange))
  requireNamed(exchange, caller.session)
  return caller
}

const NO_SESSION: ReadonlySet<string> = new Set(['authentication', 'rate_limited'])

/** The session of a request that needs none. One that has ended is no session, nor is one that is not looked up. */
async function joinSession(services: ApiServices, exchange: Exchange): Promise<void> {
  const token = tokenOf(exchange)
  if (token === undefined) return refuseForeign(exchange)
  try {
    exchange.caller = await sessionOf(services, exchange, token)
    await count(services, exchange)
  } catch (error) {
    const isNone = error instanceof GatewayError && NO_SESSION.has(error.failure)
    if (!isNone) throw error
    exchange.caller = undefined
  }
}

/** The client of a session's request. */
export function sessionClientOf({ c, address }: Exchange) {
  return { address, userAgent: c.req.header('user-agent'), defer: c.env.client.defer }
}

/** Refuses a caller that may not call the route. The handler of a scoped route decides which records it reaches. */
function requireAllowed(caller: Caller, contract: RouteContract): void {
  if (isSession(caller)) requireStanding(caller.session.standing, contract)
  if (contract.auth !== 'admin') return
  const wanted = permissionsOf(contract)
  const [first] = wanted
  // The handler decides about a single record, and about what a person owns.
  if (contract.scoped && isSession(caller) && (contract.params || (contract.scoped === 'own' && ownerOf(caller))))
    return
  const allowed = contract.scoped ? wanted.some((one) => hasPermission(caller, one)) : hasEverywhere(caller)
  if (!allowed) throw missingPermission(first)
}

const WANTING: Readonly<Record<Exclude<SessionStanding, 'complete'>, readonly [code: string, message: string]>> = {
  unverified: ['mfa_required', 'Prove your second factor first: POST /auth/mfa/verify.'],
  password_expired: ['password_change_required', 'Change your password first: POST /auth/internal/change-password.'],
  unenrolled: ['mfa_enrollment_required', 'Set up a second factor first: POST /auth/mfa/enroll/start.'],
}

function requireStanding(standing: SessionStanding, { standings = [] }: RouteContract): void {
  if (standing === 'complete' || standings.includes(standing)) return
  const [code, message] = WANTING[standing]
  throw new GatewayError('permission', message, { code })
}

/** The permissions of a route of the administration, any of which will do. */
export function permissionsOf({ permission, path }: RouteContract): readonly [Permission, ...Permission[]] {
  const [first, ...others] = permission === undefined ? [] : [permission].flat()
  if (first === undefined) throw new TypeError(`the admin route ${path} names no permission`)
  return [first, ...others]
}

/** Counts a request before its body is read. */
export async function count(services: ApiServices, exchange: Exchange): Promise<void> {
  const { caller, address, requestId, contract } = exchange
  // A caller without limits is not counted. On the API for clients it is admitted all the same, because a store that
  // fails closed must refuse it while the store is away.
  if (!caller || (caller.versions.length === 0 && !(contract && SERVED.has(contract.tag)))) return
  const isForm = contract?.body?.contentType === 'multipart/form-data'
  const tokens = isForm ? 1 : tokensOfCharacters(announcedLength(services, exchange))
  const counted = await admitRequest(services, { caller, address, requestId, tokens })
  exchange.caller = counted.caller
  exchange.rateHeaders = counted.headers
}

/** The announced length of a body that the handler will read. A body that no handler reads costs no tokens: a client
 *  could announce any length without sending it, and use up limits that it shares with others. */
function announcedLength({ config }: ApiServices, { c, caller, contract }: Exchange): number {
  if (!contract?.json || !caller) return 0
  if (contract.auth === 'admin' && !permissionsOf(contract).some((one) => hasPermission(caller, one))) return 0
  const announced = Number(c.req.header('content-length') ?? 0)
  return announced <= config.general_settings.max_json_bytes ? announced : 0
}
