import { calculatePKCECodeChallenge, generateRandomCodeVerifier, generateRandomNonce } from 'oauth4webapi'
import type { Secret } from '../../lib/secret.ts'
import type { Transport } from '../../transport/transport.ts'
import { SignOnProblem } from './problem.ts'
import { type Profile, profileOf, type Return } from './profile.ts'
import { type ProviderSettings, providerSource } from './provider.ts'

export interface ClientSettings {
  readonly id: string
  readonly secret: Secret
  readonly redirectUri: string
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
  }
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
