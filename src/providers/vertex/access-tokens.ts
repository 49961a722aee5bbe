import { GatewayError } from '../../lib/errors.ts'
import { reveal, type Secret } from '../../lib/secret.ts'
import type { Authorizing } from '../provider.ts'
import { type AccessToken, mintToken } from './mint-token.ts'
import type { ServiceAccount } from './service-account.ts'

/** How long before its end a token is renewed; a fifth of its lifetime if that is shorter. */
const MARGIN_MS = 300_000
const MINT_TIMEOUT_MS = 5000
/** Longer than minting may take: after this time the minting was killed together with the request that began it. */
const WAIT_TIMEOUT_MS = 6000

interface Entry {
  token?: { readonly bearer: Secret; readonly renewAt: number; readonly endsAt: number }
  /** Resolves with the token or the failure. It never rejects, because possibly no call awaits it any more. */
  minting?: Promise<AccessToken | { readonly failure: unknown }> | undefined
}

/** Access tokens by service account. A token is cached until shortly before its end and minted once for all waiting calls; a
 *  client that disconnects does not abort it for the others. */
export function accessTokens(limits: { readonly accounts: number } = { accounts: 256 }) {
  const accounts = new Map<string, Entry>()

  /** Finds or adds an entry; the least recently used one is evicted. */
  const entryFor = ({ keyFile }: ServiceAccount): Entry => {
    // The key is the whole key file, so that an account's name alone does not give access to its token.
    const name = reveal(keyFile)
    const entry = accounts.get(name) ?? {}
    accounts.delete(name)
    accounts.set(name, entry)
    const [oldest] = accounts.keys()
    if (accounts.size > limits.accounts && oldest !== undefined) accounts.delete(oldest)
    return entry
  }

  const mint = async (entry: Entry, account: ServiceAccount, { transport, now }: Authorizing) => {
    const signal = AbortSignal.timeout(MINT_TIMEOUT_MS)
    try {
      const token = await mintToken(account, { transport, signal, now })
      const margin = Math.min(MARGIN_MS, token.lifetimeMs / 5)
      const endsAt = now + token.lifetimeMs
      entry.token = { bearer: token.bearer, endsAt, renewAt: endsAt - margin }
      return token
    } catch (failure) {
      return { failure: signal.aborted ? late() : failure }
    } finally {
      entry.minting = undefined
    }
  }

  return async (account: ServiceAccount, means: Authorizing): Promise<Secret> => {
    const entry = entryFor(account)
    const { token } = entry
    if (token && means.now < token.renewAt) return token.bearer
    entry.minting ??= mint(entry, account, means)
    const { minting } = entry
    const outcome = await Promise.race([minting, leaving(means.signal)])
    if ('bearer' in outcome) return outcome.bearer
    if (entry.minting === minting) entry.minting = undefined
    // The old token is valid until its end.
    if (token && means.now < token.endsAt && !means.signal.aborted) return token.bearer
    throw outcome.failure
  }
}

function late(): GatewayError {
  return new GatewayError('upstream_timeout', "The provider's token endpoint did not answer in time.")
}

async function leaving(signal: AbortSignal): Promise<{ readonly failure: unknown }> {
  const waited = AbortSignal.timeout(WAIT_TIMEOUT_MS)
  const either = AbortSignal.any([signal, waited])
  if (!either.aborted) await new Promise((resolve) => either.addEventListener('abort', resolve, { once: true }))
  return { failure: signal.aborted ? signal.reason : late() }
}
