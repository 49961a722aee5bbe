import { calculatePKCECodeChallenge, customFetch, generateRandomCodeVerifier, generateRandomNonce } from 'oauth4webapi'
import type { Secret } from '../../lib/secret.ts'
import type { Transport } from '../../transport/transport.ts'
import { type IdentityProvider, type ProviderSettings, providerSource } from './identity-provider.ts'
import { SignOnProblem } from './problem.ts'
import { type Profile, profileOf, type Return } from './profile.ts'

export interface ClientSettings {
  readonly id: string
  readonly secret: Secret
  readonly redirectUri: string
}

/** What a provider says of itself. */
export interface ProviderFacts {
  readonly issuer: string | null
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly userinfo_endpoint: string | null
  /** With how many keys it signs; null: its tokens are not checked against any. */
  readonly keys: number | null
}

/** The authorization code flow, with PKCE and a nonce. Everything of OAuth is behind this: it is loaded when the first person
 *  signs on. What goes wrong is a SignOnProblem. */
export interface Authorization {
  /** A login that is about to begin, and the address at the provider that it begins at. */
  prepare(): Promise<{
    readonly verifier: string
    readonly nonce: string
    locationOf(state: string): string
  }>
  redeem(from: Return): Promise<Profile>
  /** Asks the provider anew what it says of itself. */
  check(): Promise<ProviderFacts>
}

export function authorization(
  settings: ProviderSettings,
  client: ClientSettings,
  transport: Transport,
  now: () => number,
): Authorization {
  const provider = providerSource(settings, transport, now)
  return {
    prepare: () =>
      orProblem(async () => {
        const { server } = await provider()
        const [verifier, nonce] = [generateRandomCodeVerifier(), generateRandomNonce()]
        const location = new URL(server.authorization_endpoint)
        const parameters = {
          client_id: client.id,
          redirect_uri: client.redirectUri,
          response_type: 'code',
          scope: 'openid email profile',
          code_challenge: await calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          nonce,
        }
        for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value)
        return {
          verifier,
          nonce,
          locationOf(state) {
            location.searchParams.set('state', state)
            return location.href
          },
        }
      }),
    redeem: (from) => orProblem(async () => profileOf(await provider(), client, from)),
    check: () => orProblem(async () => factsOf(await providerSource(settings, transport, now)())),
  }
}

async function factsOf({ issuer, server, request }: IdentityProvider): Promise<ProviderFacts> {
  const { authorization_endpoint, token_endpoint, userinfo_endpoint = null, jwks_uri: address } = server
  const facts = { issuer: issuer ?? null, authorization_endpoint, token_endpoint, userinfo_endpoint }
  if (address === undefined) return { ...facts, keys: null }
  const answer = await request[customFetch](address, { method: 'GET', headers: { accept: 'application/json' } })
  const { keys } = (await answer.json()) as { readonly keys?: unknown }
  if (!Array.isArray(keys)) throw new SignOnProblem('provider_refused', 'its keys are none that could be read')
  return { ...facts, keys: keys.length }
}

async function orProblem<Value>(run: () => Promise<Value>): Promise<Value> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof SignOnProblem) throw error
    throw new SignOnProblem('provider_refused', reasonOf(error), { cause: error })
  }
}

interface OAuthFailure {
  readonly code?: unknown
  /** The provider's own word, of its error answers. */
  readonly error?: unknown
  readonly cause?: { readonly claim?: unknown; readonly attribute?: unknown }
}

/** The names of what is wrong, never a value: `OAUTH_JWT_CLAIM_COMPARISON_FAILED nonce`, `access_denied`. */
function reasonOf(thrown: unknown): string {
  const { code, error, cause } = thrown as OAuthFailure
  const names = [code, error, cause?.claim, cause?.attribute].filter(
    (name) => typeof name === 'string' && /^\w{1,64}$/.test(name),
  )
  return names.length > 0 ? names.join(' ') : thrown instanceof Error ? thrown.name : 'unknown'
}
