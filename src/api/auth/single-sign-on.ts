import * as z from 'zod'
import { STATE_SECONDS } from '../../identity/single-sign-on/login-state.ts'
import { SignOnProblem } from '../../identity/single-sign-on/problem.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { setSessionCookie, setSignOnCookie, signOnToken } from '../middleware/session-cookie.ts'
import { defineRoute, type Route } from '../route.ts'
import { auditSignOn } from './audit-sign-on.ts'
import { browserSession } from './browser-session.ts'

const page = (description: string) => ({ description, contentType: ['text/html', 'application/json'] })
const responses = {
  302: { description: 'The redirect of the browser.', contentType: [] },
  403: page('The domain of the address may not register.'),
  503: page('The shared store or the database is away, and with it single sign-on.'),
}

const begin = defineRoute(
  {
    method: 'get',
    path: '/auth/login',
    summary: 'Sends a browser to the identity provider.',
    tag: 'Accounts',
    auth: 'public',
    errorPages: true,
    query: () =>
      z.object({ next: z.string().optional().describe('The path of this gateway to return to, such as /console.') }),
    responses: { 302: responses[302], 503: responses[503] },
  },
  async (scope) => {
    const { services } = scope
    try {
      const { location, browser } = await services.singleSignOn.begin({
        next: scope.input.query.next,
        browser: signOnToken(scope.header('cookie')),
        address: scope.address,
      })
      return redirect(location, setSignOnCookie(scope.site(), browser, STATE_SECONDS))
    } catch (error) {
      const { code, reason } = problemOf(error)
      services.log.warn('sso.failed', { requestId: scope.requestId, problem: code, reason })
      if (code === 'store_away') throw storeAway()
      return redirect(signInPage(code))
    }
  },
)

const callback = defineRoute(
  {
    method: 'get',
    path: '/auth/callback',
    summary: 'The redirect address of the identity provider: opens a session. A former session of the browser ends.',
    tag: 'Accounts',
    auth: 'public',
    takesSession: true,
    action: 'account.sso_login',
    errorPages: true,
    query: () => {
      const text = z.string().optional()
      return z.object({ code: text, state: text, iss: text, error: text })
    },
    responses,
  },
  async (scope) => {
    const { services } = scope
    const metadata: Record<string, unknown> = {}
    try {
      const arrival = await services.singleSignOn.finish(
        scope.input.query,
        { browser: signOnToken(scope.header('cookie')), address: scope.address },
        ({ provider, email = null }) => Object.assign(metadata, { provider, email }),
      )
      const opening = { accountId: arrival.account.account_id, method: 'sso', mfaVerified: false } as const
      const opened = await browserSession(scope, opening)
      if (!opened) throw new SignOnProblem('account_disabled', 'the account was disabled meanwhile')
      auditSignOn(scope, arrival, metadata)
      return redirect(arrival.next, setSessionCookie(scope.site(), opened))
    } catch (error) {
      const { code, reason } = problemOf(error)
      scope.audits({ actor_type: 'anonymous', actor_id: null, metadata: { ...metadata, problem: code, reason } })
      services.log.warn('sso.failed', { requestId: scope.requestId, problem: code, reason })
      if (code !== 'blocked_domain') return redirect(signInPage(code))
      scope.audits({ action: 'account.sso_blocked' })
      throw new GatewayError(
        'permission',
        'People of your e-mail domain have no access here. Ask the operator of this gateway.',
        {
          code,
        },
      )
    }
  },
)

export const singleSignOnRoutes: readonly Route[] = [begin, callback]

/** Whatever else it is has nothing to do with the person's login. */
function problemOf(error: unknown): SignOnProblem {
  if (error instanceof SignOnProblem) return error
  throw error
}

const signInPage = (problem: string) => `/console/sign-in?problem=${problem}`

/** Nothing of an address that holds a code is kept, or told to another page. */
function redirect(location: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status: 302,
    headers: { location, 'referrer-policy': 'no-referrer', ...headers },
    body: new Uint8Array(),
  }
}

function storeAway(): GatewayError {
  return new GatewayError(
    'store_unavailable',
    'Single sign-on is off while the shared store is away. Try again in a minute, or sign in with a password.',
    { retryAfterSeconds: 5 },
  )
}
