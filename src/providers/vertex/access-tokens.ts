import { GatewayError } from '../../lib/errors.ts'
import { reveal, type Secret } from '../../lib/secret.ts'
import type { Authorizing } from '../provider.ts'
import { type AccessToken, mintToken } from './mint-token.ts'
import type { ServiceAccount } from './service-account.ts'

/** How long before its end a token is renewed, where a fifth of its life is not shorter. */
const MARGIN_MS = 300_000
const MINT_TIMEOUT_MS = 5000
/** Longer than a mint may take: who waits this long waits for something that a killed invocation took along. */
const WAIT_TIMEOUT_MS = 6000

interface Kept {
  token?: { readonly bearer: Secret; readonly renewAt: number; readonly endsAt: number }
  /** Resolves with what came of it; never rejects, since nobody may be waiting any more. */
  minting?: Promise<AccessToken | { readonly failure: unknown }> | undefined
}

/** Access tokens by service account: each is kept until shortly before its end and minted once, however many calls wait
 *  for it. A client that leaves does not take the others' token along. */
export function accessTokens(limits: { readonly accounts: number } = { accounts: 256 }) {
  const accounts = new Map<string, Kept>()

  /** The one used longest ago gives way. */
  const keptFor = ({ keyFile }: ServiceAccount): Kept => {
    // By the whole key file: who knows the name of an account has no right to its token.
    const name = reveal(keyFile)
    const kept = accounts.get(name) ?? {}
    accounts.delete(name)
    accounts.set(name, kept)
    const [oldest] = accounts.keys()
    if (accounts.size > limits.accounts && oldest !== undefined) accounts.delete(oldest)
    return kept
  }

  const mint = async (kept: Kept, account: ServiceAccount, { transport, now }: Authorizing) => {
    const signal = AbortSignal.timeout(MINT_TIMEOUT_MS)
    try {
      const token = await mintToken(account, { transport, signal, now })
      const margin = Math.min(MARGIN_MS, token.lifetimeMs / 5)
      const endsAt = now + token.lifetimeMs
      kept.token = { bearer: token.bearer, endsAt, renewAt: endsAt - margin }
      return token
    } catch (failure) {
      return { failure: signal.aborted ? late() : failure }
    } finally {
      kept.minting = undefined
    }
  }

  return async (account: ServiceAccount, means: Authorizing): Promise<Secret> => {
    const kept = keptFor(account)
    const { token } = kept
    if (token && means.now < token.renewAt) return token.bearer
    kept.minting ??= mint(kept, account, means)
    const { minting } = kept
    const outcome = await Promise.race([minting, leaving(means.signal)])
    if ('bearer' in outcome) return outcome.bearer
    if (kept.minting === minting) kept.minting = undefined
    // The old token is good to its very end.
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
