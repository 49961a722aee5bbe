import type { Config } from '../../config/schema.ts'
import type { SsoKind } from '../../config/sections/single-sign-on.ts'
import { GatewayError } from '../../lib/errors.ts'
import { newToken } from '../../lib/token.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type { IdentityRecords } from '../../stores/sql/people/identity-records.ts'
import type { Transport } from '../../transport/transport.ts'
import type { Authorization, ProviderFacts } from './authorization.ts'
import { KINDS } from './kinds.ts'
import { type LoginState, loginStates } from './login-state.ts'
import { nextPath } from './next-path.ts'
import { SignOnProblem } from './problem.ts'
import type { Profile } from './profile.ts'
import { type SignedOn, signOnWith } from './sign-on.ts'

/** What a provider sends back by way of the browser. */
export type Callback = {
  readonly [name in 'code' | 'state' | 'iss' | 'error']?: string | undefined
}

/** A person who has come back from the provider. */
export interface Arrival extends SignedOn {
  /** A path of this gateway. */
  readonly next: string
}

/** Login through an identity provider. Both steps throw SignOnProblem. */
export interface SingleSignOn {
  /** What a login page may offer; null: none is configured. */
  offer(): { readonly kind: SsoKind; readonly label: string } | null
  /** Where the provider sends people back to. */
  readonly redirectUri: string | null
  /** The address at the provider to redirect the browser to, and the token of the browser's cookie, new if it had none. */
  begin(login: {
    readonly next: string | undefined
    readonly browser: string | undefined
    readonly address: string
  }): Promise<{ readonly location: string; readonly browser: string }>
  /** The account of the person who came back; the first login creates or links it. `profiled` is called with the profile
   *  before it is decided whether the person is admitted. Throws a GatewayError where an address comes back too often from
   *  logins that it has not begun. */
  finish(
    callback: Callback,
    from: { readonly browser: string | undefined; readonly address: string },
    profiled?: (profile: Profile) => void,
  ): Promise<Arrival>
  /** Asks the provider what it says of itself. */
  check(): Promise<ProviderFacts>
}

const OFF: SingleSignOn = { offer: () => null, redirectUri: null, begin: off, finish: off, check: off }

async function off(): Promise<never> {
  throw new GatewayError('not_found', 'This gateway has no single sign-on.', { code: 'sso_disabled' })
}

export function singleSignOn(options: {
  readonly settings: Config['general_settings']
  readonly store: SharedStore
  readonly records: IdentityRecords
  readonly transport: Transport
  /** Counts a request without a credential; gives its refusal where an address sends too many. */
  readonly throttle: (address: string) => GatewayError | undefined
  readonly now: () => number
}): SingleSignOn {
  const { settings, store, records, transport, throttle, now } = options
  const { enable_sso: enabled, sso_provider: kind, sso_redirect_uri: redirectUri } = settings
  const { sso_client_id: id, sso_client_secret: secret } = settings
  if (!enabled || !kind || !id || !secret || !redirectUri) return OFF
  const client = { id, secret, redirectUri }
  const provider = {
    kind: KINDS[kind],
    issuer: settings.sso_issuer,
    authorizeUrl: settings.sso_authorize_url,
    tokenUrl: settings.sso_token_url,
    userinfoUrl: settings.sso_userinfo_url,
  }
  const states = loginStates(store)
  const signOn = signOnWith({ settings, records, store })
  let made: Authorization | undefined
  /** The login that comes back. One that is not on its way counts as a request without a credential. */
  async function begun(state: string | undefined, browser: string | undefined, address: string): Promise<LoginState> {
    try {
      return await states.take(state, browser)
    } catch (error) {
      const isUnknown = error instanceof SignOnProblem && error.code === 'state_expired'
      throw (isUnknown && throttle(address)) || error
    }
  }
  async function authorization(): Promise<Authorization> {
    const module = await import('./authorization.ts')
    made ??= module.authorization(provider, client, transport, now)
    return made
  }

  return {
    offer: () => ({ kind, label: KINDS[kind].label }),
    redirectUri,
    check: async () => (await authorization()).check(),
    async begin({ next, browser: known, address }) {
      const refused = throttle(address)
      if (refused) throw refused
      const { verifier, nonce, locationOf } = await (await authorization()).prepare()
      // Several tabs of one browser log in beside each other, under one cookie.
      const browser = known ?? newToken()
      const state = await states.keep({ verifier, nonce, next: nextPath(next) }, browser)
      return { location: locationOf(state), browser }
    },
    async finish(callback, { browser, address }, profiled) {
      const { verifier, nonce, next } = await begun(callback.state, browser, address)
      const { redeem } = await authorization()
      const parameters = new URLSearchParams()
      for (const [name, value] of Object.entries(callback)) if (value !== undefined) parameters.set(name, value)
      const profile = await redeem({ parameters, state: callback.state ?? '', verifier, nonce })
      profiled?.(profile)
      return { ...(await signOn(profile)), next }
    },
  }
}
