import {
  type AuthorizationServer,
  type Client,
  clockTolerance,
  getValidatedIdTokenClaims,
  jwksCache,
  processAuthorizationCodeResponse,
  processUserInfoResponse,
  skipSubjectCheck,
  userInfoRequest,
  validateApplicationLevelSignature,
  validateAuthResponse,
} from 'oauth4webapi'
import type { Secret } from '../../lib/secret.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { type Claims, isKept, isVerified } from './kinds.ts'
import { SignOnProblem } from './problem.ts'
import { redeemCode } from './redeem-code.ts'

const SKEW_SECONDS = 30
/** Where the provider says nothing of them: those whose keys are public. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/** A person as the provider knows them. */
export interface Profile {
  /** Names the provider for good: its issuer, else the address of its profiles. */
  readonly provider: string
  readonly subject: string
  readonly email: string | undefined
  readonly emailVerified: boolean
  /** The account is kept by who owns the domain of the address. */
  readonly ofDomain: boolean
  readonly name: string | undefined
}

/** What came back from the provider by way of the browser, and what was kept of the login. */
export interface Return {
  readonly parameters: URLSearchParams
  readonly state: string
  readonly verifier: string
  readonly nonce: string
}

/** Redeems the code of a login for the person's profile. Everything that a token says is checked: its issuer, audience,
 *  end, nonce and signature, and that the profile is of the same person. */
export async function profileOf(
  provider: IdentityProvider,
  client: { readonly id: string; readonly secret: Secret; readonly redirectUri: string },
  { parameters, state, verifier, nonce }: Return,
): Promise<Profile> {
  const { request, kind, issuer } = provider
  const us: Client = { client_id: client.id, [clockTolerance]: SKEW_SECONDS }
  const theirs = {
    id_token_signing_alg_values_supported: ALGORITHMS,
    userinfo_signing_alg_values_supported: ALGORITHMS,
    ...provider.server,
  }
  // Which issuer it was is told by none that is not known.
  if (issuer === undefined || issuer.includes('{')) parameters.delete('iss')
  const code = validateAuthResponse(theirs, us, parameters, state)
  const { secret, redirectUri } = client
  const response = await redeemCode(provider, { server: theirs, us, code, secret, redirectUri, verifier })
  const stated = await statedIn(response.clone())
  // Where no issuer is known, the answer of its own token endpoint says who it is.
  const expected = issuer === undefined ? textOf(stated?.iss) : (kind.tokenIssuer?.(issuer, stated ?? {}) ?? issuer)
  const server = { ...theirs, issuer: expected ?? theirs.issuer }
  const isTokenWanted = issuer !== undefined || stated !== undefined
  const tokens = await processAuthorizationCodeResponse(
    server,
    us,
    response,
    isTokenWanted ? { expectedNonce: nonce, requireIdToken: true } : {},
  )
  const token: Claims | undefined = getValidatedIdTokenClaims(tokens)
  if (issuer !== undefined) await requireSignature(provider, server, response)
  const userinfo = saysEnough(issuer, token)
    ? undefined
    : await readUserinfo(server, us, tokens.access_token, textOf(token?.sub), request)
  const claims = userinfo?.email === undefined ? (token ?? userinfo ?? {}) : userinfo
  const emailVerified = isVerified(kind, claims, issuer)
  return {
    provider: nameOf(expected, issuer, provider),
    subject: storable(claims.sub, 255) ?? refuse('it names nobody'),
    email: storable(claims.email, 254),
    emailVerified,
    ofDomain: emailVerified && isKept(kind, claims, expected),
    name: storable(token?.name ?? userinfo?.name, 200),
  }
}

/** Throws where the token in an answer is not signed by one of the provider's keys. A provider may have replaced a key under
 *  its name: then its keys are read again. */
async function requireSignature(
  provider: IdentityProvider,
  server: AuthorizationServer,
  response: Response,
  kept = provider.keys,
): Promise<void> {
  // A copy: what is kept must hold nothing that belongs to one request.
  const keys = structuredClone(kept)
  try {
    // The library remembers the keys of each server, too.
    await validateApplicationLevelSignature({ ...server }, response, {
      ...provider.request,
      [jwksCache]: keys as Record<string, never>,
    })
    provider.keys = keys
  } catch (error) {
    if (kept.jwks === undefined || error instanceof SignOnProblem || !provider.mayReadKeysAgain()) throw error
    await requireSignature(provider, server, response, {})
  }
}

/** What the token in an answer says, before anything of it is checked. */
async function statedIn(response: Response): Promise<Claims | undefined> {
  try {
    const { id_token: token } = (await response.json()) as { id_token?: unknown }
    if (typeof token !== 'string') return undefined
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
    const bytes = Uint8Array.from(atob(payload), (letter) => letter.charCodeAt(0))
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof claims === 'object' && claims !== null ? (claims as Claims) : {}
  } catch {
    return {}
  }
}

function saysEnough(issuer: string | undefined, token: Claims | undefined): boolean {
  if (issuer === undefined || typeof token?.email !== 'string') return false
  return token.email_verified !== undefined || token.xms_edov !== undefined
}

async function readUserinfo(
  server: AuthorizationServer,
  us: Client,
  accessToken: string,
  subject: string | undefined,
  request: IdentityProvider['request'],
): Promise<Claims | undefined> {
  if (server.userinfo_endpoint === undefined) return undefined
  const response = await userInfoRequest(server, us, accessToken, request)
  return processUserInfoResponse(server, us, subject ?? skipSubjectCheck, response)
}

function nameOf(expected: string | undefined, issuer: string | undefined, { server }: IdentityProvider): string {
  if (issuer === undefined) return server.userinfo_endpoint ?? refuse('it has no address for profiles')
  return expected?.includes('://') ? expected : issuer
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** What a database can hold of it. */
function storable(value: unknown, longest: number): string | undefined {
  const text = textOf(value)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text !== undefined && text.length <= longest && text.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(text)
    ? text
    : undefined
}

function refuse(reason: string): never {
  throw new SignOnProblem('provider_refused', reason)
}
