import {
  type AuthorizationServer,
  allowInsecureRequests,
  customFetch,
  discoveryRequest,
  type ExportedJWKSCache,
  processDiscoveryResponse,
} from 'oauth4webapi'
import { mistakeInOperatorUrl } from '../../config/operator-url.ts'
import { elapsedMs } from '../../lib/clock.ts'
import type { Transport } from '../../transport/transport.ts'
import { fetchThrough } from './fetch-through.ts'
import type { Kind } from './kinds.ts'
import { SignOnProblem } from './problem.ts'

/** Addresses and keys are asked for again after so long. */
const KEPT_MS = 600_000
/** Whoever signs falsely does not make the gateway ask for keys more often. */
const AGAIN_MS = 60_000

/** What the operator wrote of the provider. */
export interface ProviderSettings {
  readonly kind: Kind
  readonly issuer: string | undefined
  readonly authorizeUrl: string | undefined
  readonly tokenUrl: string | undefined
  readonly userinfoUrl: string | undefined
}

/** A provider as it can be asked. */
export interface IdentityProvider {
  readonly kind: Kind
  /** Its issuer. Without one its tokens cannot be checked against its keys, and its profile is read instead. */
  readonly issuer: string | undefined
  readonly server: AuthorizationServer & { readonly authorization_endpoint: string; readonly token_endpoint: string }
  readonly request: {
    readonly [customFetch]: ReturnType<typeof fetchThrough>
    readonly [allowInsecureRequests]: boolean
  }
  /** Its keys, as they were last read. */
  keys: Partial<ExportedJWKSCache>
  /** It has refused the client's secret in a header, and taken it in the body. */
  takesSecretInBody: boolean
  /** Whether its keys may be read again, because a signature is by none of them. Called, it says so once a minute. */
  mayReadKeysAgain(): boolean
}

/** Where no issuer is known, the name stands in for one that no token can carry. */
const NO_ISSUER = 'https://issuer.invalid'

/** Finds out how the provider is asked: by its discovery document, beside what the operator wrote. */
export function providerSource(
  settings: ProviderSettings,
  transport: Transport,
  now: () => number,
): () => Promise<IdentityProvider> {
  const written = {
    ...(settings.authorizeUrl === undefined ? {} : { authorization_endpoint: settings.authorizeUrl }),
    ...(settings.tokenUrl === undefined ? {} : { token_endpoint: settings.tokenUrl }),
    ...(settings.userinfoUrl === undefined ? {} : { userinfo_endpoint: settings.userinfoUrl }),
  }
  const issuer = settings.issuer ?? (Object.keys(written).length === 3 ? undefined : settings.kind.issuer)
  const addresses = [issuer, ...Object.values(written)]
  const request = {
    [customFetch]: fetchThrough(transport),
    // What is https stays https: one address of a provider's document in the open would give its codes away.
    [allowInsecureRequests]: addresses.every((address) => address === undefined || address.startsWith('http:')),
  }
  let readAgainAt = Number.NEGATIVE_INFINITY
  function mayReadKeysAgain(): boolean {
    if (elapsedMs(readAgainAt, now()) < AGAIN_MS) return false
    readAgainAt = now()
    return true
  }
  let kept: { readonly provider: IdentityProvider; readonly foundAt: number } | undefined

  async function find(): Promise<IdentityProvider> {
    const document = issuer === undefined ? { issuer: NO_ISSUER } : await discovered(settings.kind, issuer, request)
    const { authorization_endpoint, token_endpoint, ...server } = { ...document, ...written }
    if (authorization_endpoint === undefined || token_endpoint === undefined) {
      throw new SignOnProblem('provider_refused', 'its discovery document lacks addresses')
    }
    const known = { ...server, authorization_endpoint, token_endpoint }
    for (const address of [authorization_endpoint, token_endpoint, known.userinfo_endpoint, known.jwks_uri]) {
      const mistake = address === undefined ? undefined : mistakeInOperatorUrl(address)
      if (mistake !== undefined) throw new SignOnProblem('provider_refused', `an address in its document ${mistake}`)
    }
    const { kind } = settings
    const told = issuer === undefined ? undefined : document.issuer
    return { kind, issuer: told, server: known, request, keys: {}, takesSecretInBody: false, mayReadKeysAgain }
  }

  return async () => {
    if (kept && elapsedMs(kept.foundAt, now()) < KEPT_MS) return kept.provider
    const provider = await find()
    kept = { provider, foundAt: now() }
    return provider
  }
}

async function discovered(
  kind: Kind,
  issuer: string,
  request: IdentityProvider['request'],
): Promise<AuthorizationServer> {
  const response = await discoveryRequest(new URL(issuer), request)
  return processDiscoveryResponse(new URL(kind.documentIssuer?.(issuer) ?? issuer), response)
}
