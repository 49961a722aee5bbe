import { addressBlock } from '../lib/addresses/address-range.ts'
import { elapsedMs } from '../lib/clock.ts'
import { GatewayError } from '../lib/errors.ts'
import { expiringMap } from '../stores/kv/in-process/expiring-map.ts'

/** The number of addresses with a bucket; the oldest bucket goes first. */
const ADDRESSES = 10_000
const MINUTE_MS = 60_000
/** The key lookups of an address that fails too often wait for the next multiple of this time, so that they share a round
 *  trip. */
const PACE_MS = 50

/** Limits requests without a valid credential, by a token bucket for each address. A request with a valid credential takes
 *  no token and is never refused here. */
export interface FailedAttempts {
  /** Counts a failed request; returns its refusal if the bucket is empty. */
  failed(address: string): GatewayError | undefined
  /** The refusal of a request before its credential is looked up; undefined while the bucket has a token. */
  refused(address: string): GatewayError | undefined
  /** The delay of a key lookup; undefined for most addresses. */
  pace(address: string): Promise<void> | undefined
}

interface Bucket {
  left: number
  at: number
}

/** `perMinute` is the size of a bucket and the tokens that it regains in a minute; 0 is no limit. */
export function failedAttempts(perMinute: number, now: () => number): FailedAttempts {
  const buckets = expiringMap<Bucket>(now, ADDRESSES)
  const perMs = perMinute / MINUTE_MS

  const leftIn = ({ left, at }: Bucket) => Math.min(perMinute, left + elapsedMs(at, now()) * perMs)

  function bucketOf(block: string): Bucket {
    const bucket = buckets.get(block) ?? { left: perMinute, at: now() }
    bucket.left = leftIn(bucket)
    bucket.at = now()
    return bucket
  }

  /** The bucket of an address that has none left. */
  function emptyBucket(address: string): Bucket | undefined {
    const bucket = buckets.size === 0 ? undefined : buckets.get(addressBlock(address))
    return bucket && leftIn(bucket) < 1 ? bucket : undefined
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
    refused: (address) => (emptyBucket(address) ? tooMany(Math.ceil(1 / perMs / 1000)) : undefined),
    pace(address) {
      if (!emptyBucket(address)) return undefined
      return new Promise((resolve) => setTimeout(resolve, PACE_MS - (now() % PACE_MS)))
    },
  }
}

function tooMany(retryAfterSeconds: number): GatewayError {
  return new GatewayError(
    'rate_limited',
    'Too many requests from this address had no valid credential. Requests with a valid credential are not affected.',
    { code: 'too_many_failed_authentications', retryAfterSeconds },
  )
}
