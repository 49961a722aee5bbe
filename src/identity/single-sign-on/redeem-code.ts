import { authorizationCodeGrantRequest, type Client, type ClientAuth, ClientSecretPost } from 'oauth4webapi'
import { reveal, type Secret } from '../../lib/secret.ts'
import type { IdentityProvider } from './identity-provider.ts'

export interface Redemption {
  readonly server: IdentityProvider['server']
  readonly us: Client
  /** Of the answer that came back with the browser. */
  readonly code: URLSearchParams
  readonly secret: Secret
  readonly redirectUri: string
  readonly verifier: string
}

/** Sends a code to the provider, with the client's secret where the provider takes it: in the header, as every provider has
 *  to unless it says otherwise, or in the body. Many providers take both, but of each client only the one that it was
 *  registered with, and do not say which. */
export async function redeemCode(provider: IdentityProvider, redemption: Redemption): Promise<Response> {
  const { server, us, code, redirectUri, verifier } = redemption
  const secret = reveal(redemption.secret)
  const inBody = ClientSecretPost(secret)
  const send = (authentication: ClientAuth) =>
    authorizationCodeGrantRequest(server, us, authentication, code, redirectUri, verifier, provider.request)
  const { token_endpoint_auth_methods_supported: methods } = server
  if (provider.takesSecretInBody || (methods && !methods.includes('client_secret_basic'))) return send(inBody)
  const answered = await send(inHeader(secret))
  if ((methods && !methods.includes('client_secret_post')) || !(await refusesClient(answered))) return answered
  const again = await send(inBody)
  provider.takesSecretInBody = again.ok
  return again.ok ? again : answered
}

/** Whether an answer says anything but that the code is not valid. Who refuses the client has not used the code up. */
async function refusesClient(answered: Response): Promise<boolean> {
  if (answered.status !== 400 && answered.status !== 401) return false
  const body = (await answered
    .clone()
    .json()
    .catch(() => undefined)) as { readonly error?: unknown } | null | undefined
  return body?.error !== 'invalid_grant'
}

/** The library escapes `-`, `_` and `.` too, which secrets are full of, and which not every server undoes. */
function inHeader(secret: string): ClientAuth {
  return (_server, { client_id: id }, _body, headers) =>
    headers.set('authorization', `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`)
}
