import { describe, expect, it } from 'vitest'
import { backoffMs, sleep } from '../../../src/pipeline/attempt/backoff.ts'

describe('the pause before a retry', () => {
  it('doubles, up to half a minute', () => {
    const longest = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => backoffMs(0.5, failures, () => 1))
    expect(longest).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  })

  it('is anything from nothing to the whole, so that clients do not come back together', () => {
    expect([0, 0.25, 1].map((random) => backoffMs(1, 3, () => random))).toEqual([0, 1000, 4000])
  })

  it('ends at once when the client leaves, also one that has left before', async () => {
    const leaving = new AbortController()
    const paused = sleep(3_600_000, leaving.signal)
    leaving.abort()
    await expect(paused).rejects.toMatchObject({ failure: 'client_closed' })
    await expect(sleep(0, leaving.signal)).rejects.toMatchObject({ failure: 'client_closed' })
  })
})
