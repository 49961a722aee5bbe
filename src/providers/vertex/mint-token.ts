import { GatewayError } from '../../lib/errors.ts'
import { asText, parseRecord } from '../../lib/json/lenient.ts'
import { retryAfterSeconds } from '../../lib/retry-after.ts'
import { reveal, type Secret, secret } from '../../lib/secret.ts'
import type { Transport } from '../../transport/transport.ts'
import { classifyFailure } from '../openai/failure.ts'
import type { ServiceAccount } from './service-account.ts'

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const ASSERTION_SECONDS = 3600
const ANSWER_LIMIT_BYTES = 65_536

export interface AccessToken {
  /** With its scheme, as a header takes it. */
  readonly bearer: Secret
  readonly lifetimeMs: number
}

/** Exchanges an assertion that the account signs for an access token (RFC 7523). Failures count against the deployment. */
export async function mintToken(
  account: ServiceAccount,
  means: { readonly transport: Transport; readonly signal: AbortSignal; readonly now: number },
): Promise<AccessToken> {
  const url = new URL(account.tokenUri)
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: await assertionOf(account, Math.floor(means.now / 1000)),
  })
  const request = {
    method: 'POST',
    origin: url.origin,
    path: url.pathname + url.search,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: form.toString(),
  } as const
  const response = await means.transport.send(request, means.signal)
  const answer = parseRecord(await response.body.bytes(ANSWER_LIMIT_BYTES)) ?? {}
  if (response.status < 200 || response.status > 299) {
    throw refusal(response.status, asText(answer.error), retryAfterSeconds(response.headers, means.now))
  }
  const token = asText(answer.access_token)
  if (token === '') throw new GatewayError('upstream_malformed', "The provider's token endpoint gave no token.")
  const seconds = Number(answer.expires_in ?? ASSERTION_SECONDS)
  return { bearer: secret(`Bearer ${token}`), lifetimeMs: Number.isFinite(seconds) ? 1000 * seconds : 0 }
}

async function assertionOf(account: ServiceAccount, now: number): Promise<string> {
  const { email, privateKey, privateKeyId, tokenUri } = account
  // Loaded only if a deployment has a service account.
  const { importPKCS8, SignJWT } = await import('./jwt.ts')
  try {
    const key = await importPKCS8(reveal(privateKey), 'RS256')
    return await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(privateKeyId ? { kid: privateKeyId } : {}) })
      .setIssuer(email)
      .setSubject(email)
      .setAudience(tokenUri)
      .setIssuedAt(now)
      .setExpirationTime(now + ASSERTION_SECONDS)
      .sign(key)
  } catch {
    // The parser's message is not repeated, since it may quote the private key.
    throw new GatewayError(
      'upstream_refused',
      "The private key of the deployment's service account cannot be read. The operator must check it.",
    )
  }
}

/** The failure of the token endpoint. Its 400 (`invalid_grant`) is about the account, never about the client's request. */
function refusal(status: number, error: string, retryAfter: number | undefined): GatewayError {
  const own = status >= 400 && status < 500 && status !== 408 && status !== 429
  const wire = { message: undefined, type: undefined, code: error || undefined, param: undefined }
  const { failure, message, details } = classifyFailure(own ? 401 : status, wire, retryAfter)
  return new GatewayError(failure, message, { ...details, cause: new Error(`token endpoint: ${status} ${error}`) })
}
