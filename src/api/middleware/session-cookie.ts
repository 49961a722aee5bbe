import { refusal } from '../../identity/refusal.ts'
import type { Session } from '../../identity/session-caller.ts'
import { GatewayError } from '../../lib/errors.ts'
import { mayBeToken } from '../../lib/token.ts'
import type { Exchange } from '../exchange.ts'
import type { ApiServices } from '../scope.ts'
import { type Site, siteOf } from './site.ts'

const NAME = 'gateway_session'
const SIGN_ON_NAME = 'gateway_sign_on'

/** The session's token among the cookies of a request; undefined where none has the form of a token, or several do. */
export function sessionToken(cookies: string | undefined): string | undefined {
  return tokenIn(cookies, NAME)
}

/** The token of a login at an identity provider, likewise. */
export function signOnToken(cookies: string | undefined): string | undefined {
  return tokenIn(cookies, SIGN_ON_NAME)
}

/** A page of a neighbouring host can add a cookie of the name, and choose which of the two comes first: then neither is
 *  believed, lest a person works in a session that another has put there. */
function tokenIn(cookies: string | undefined, name: string): string | undefined {
  if (cookies === undefined) return undefined
  let found: string | undefined
  for (const pair of cookies.split(';')) {
    const at = pair.indexOf('=')
    if (at < 0 || pair.slice(0, at).trim() !== name) continue
    const token = pair.slice(at + 1).trim()
    if (!mayBeToken(token) || token === found) continue
    if (found !== undefined) return undefined
    found = token
  }
  return found
}

/** The header that sets the session's cookie; without a session, the header that removes it. */
export function setSessionCookie(
  { isPlainLoopback }: Site,
  session?: { readonly token: string; readonly seconds: number },
): { readonly 'set-cookie': string } {
  const value = `${NAME}=${session?.token ?? ''}; Path=/; Max-Age=${session?.seconds ?? 0}; HttpOnly; SameSite=Lax`
  return { 'set-cookie': isPlainLoopback ? value : `${value}; Secure` }
}

/** The header that sets the cookie of a login at an identity provider, which ties the provider's answer to the browser
 *  that asked. It is lax, since the browser comes back from another site. It grants no access. */
export function setSignOnCookie(
  { isPlainLoopback }: Site,
  token: string,
  seconds: number,
): { readonly 'set-cookie': string } {
  const value = `${SIGN_ON_NAME}=${token}; Path=/auth; Max-Age=${seconds}; HttpOnly; SameSite=Lax`
  return { 'set-cookie': isPlainLoopback ? value : `${value}; Secure` }
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** Refuses a write with a cookie unless it comes from a page of this gateway. A browser sends the cookie with forms of
 *  any site, but a form can neither send JSON nor forge its origin. */
export function requireSameOrigin({ config }: ApiServices, exchange: Exchange): void {
  const { c } = exchange
  if (READS.has(c.req.method)) return
  requireUnusualType(exchange)
  refuseForeign(exchange)
  const site = c.req.header('sec-fetch-site')
  const origin = c.req.header('origin')
  if (
    origin === undefined ? site === undefined : !isOwn(origin, siteOf(c.req), config.general_settings.email_base_url)
  ) {
    throw foreign()
  }
}

/** Refuses a request that is meant for another account than that of the session: a page, in whose browser somebody else has
 *  signed in since. */
export function requireNamed({ c }: Exchange, { account }: Session): void {
  const named = c.req.header('x-gateway-account')
  if (!named || named === (account?.accountId ?? 'master_key')) return
  throw refusal(
    'another_account',
    'Somebody else has signed in, so this was not done. Repeat it to do it in your name.',
  )
}

/** Refuses a write that the browser says another site has made, although it carries no cookie: a browser keeps the cookies
 *  of the answer to a form. */
export function refuseForeign({ c }: Exchange): void {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && !READS.has(c.req.method)) throw foreign()
}

/** Another site can make a browser send a form, but neither JSON nor a header of its choice. */
function requireUnusualType({ c, contract }: Exchange): void {
  const type = c.req.header('content-type') ?? ''
  if (/^application\/json\b/i.test(type)) return
  if (contract?.body?.contentType === 'multipart/form-data') {
    if (/^multipart\/form-data\b/i.test(type) && c.req.header('x-requested-with')) return
    throw foreign('A form with a session has to be sent as multipart/form-data, with the header "X-Requested-With".')
  }
  throw foreign('A request with a session has to be sent as JSON, with "Content-Type: application/json".')
}

/** A proxy in front may use another scheme than the gateway, but has the same host. */
function isOwn(origin: string, { host }: Site, baseUrl: string | undefined): boolean {
  const given = URL.parse(origin)
  if (!given) return false
  return given.host === host.toLowerCase() || (baseUrl !== undefined && given.origin === new URL(baseUrl).origin)
}

function foreign(message = "A request with a session has to come from the gateway's own pages."): GatewayError {
  return new GatewayError('permission', message, { code: 'cross_origin' })
}
