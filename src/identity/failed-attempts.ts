import { addressBlock } from '../lib/address-range.ts'
import { GatewayError } from '../lib/errors.ts'
import { expiringMap } from '../stores/kv/in-process/expiring-map.ts'

/** So many addresses are remembered, of which most will never be seen again. */
const ADDRESSES = 10_000
const MINUTE_MS = 60_000
/** Of an address that fails too often, questions about keys wait for the next of these, and go together. */
const PACE_MS = 50

/** Requests without a valid credential, by the address that they come from. Each takes from a bucket that fills again; a
 *  request with a valid one takes nothing, and is refused by nothing here. */
export interface FailedAttempts {
  /** To be told of each: answers what it is refused with when there were too many of them. */
  failed(address: string): GatewayError | undefined
  /** What a question about a key has to wait for; undefined for most addresses. */
  pace(address: string): Promise<void> | undefined
}

interface Bucket {
  left: number
  at: number
}

/** `perMinute`: how many an address has; 0 is no limit. */
export function failedAttempts(perMinute: number, now: () => number): FailedAttempts {
  const buckets = expiringMap<Bucket>(now, ADDRESSES)
  const perMs = perMinute / MINUTE_MS

  function bucketOf(block: string): Bucket {
    const bucket = buckets.get(block) ?? { left: perMinute, at: now() }
    bucket.left = Math.min(perMinute, bucket.left + (now() - bucket.at) * perMs)
    bucket.at = now()
    return bucket
  }

  return {
    failed(address) {
      if (perMinute === 0) return undefined
      const block = addressBlock(address)
      const bucket = bucketOf(block)
      const enough = bucket.left >= 1
      if (enough) bucket.left -= 1
      buckets.set(block, bucket, now() + MINUTE_MS)
      return enough ? undefined : tooMany(Math.ceil((1 - bucket.left) / perMs / 1000))
    },
    pace(address) {
      if (buckets.size === 0) return undefined
      const bucket = buckets.get(addressBlock(address))
      if (!bucket || bucket.left + (now() - bucket.at) * perMs >= 1) return undefined
      return new Promise((resolve) => setTimeout(resolve, PACE_MS - (now() % PACE_MS)))
    },
  }
}

function tooMany(retryAfterSeconds: number): GatewayError {
  return new GatewayError(
    'rate_limited',
    'Too many requests from this address had no valid credential. One that is valid is not refused for it.',
    { code: 'too_many_failed_authentications', retryAfterSeconds },
  )
}
