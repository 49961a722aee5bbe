import { describe, expect, it } from 'vitest'
import { afterFailure } from '../../../src/batch/run/after-failure.ts'
import { givingWay } from '../../../src/batch/run/giving-way.ts'
import { headroom } from '../../../src/batch/run/headroom.ts'
import { pace } from '../../../src/batch/run/pace.ts'
import { readRequestLine } from '../../../src/batch/run/request-line.ts'
import { type FailureName, GatewayError } from '../../../src/lib/errors.ts'
import type { Caller } from '../../../src/pipeline/caller.ts'

describe('the pace of a batch', () => {
  it('halves once for tries that ran side by side, and grows back with as many successes as it allows', () => {
    const own = pace(16)
    own.throttled(100, 200)
    own.throttled(150, 210)
    expect(own.allowed).toBe(8)
    own.throttled(220, 300)
    expect(own.allowed).toBe(4)
    for (let success = 0; success < 4; success++) own.succeeded()
    expect(own.allowed).toBe(5)
    for (let success = 0; success < 1000; success++) own.succeeded()
    expect(own.allowed).toBe(16)
    for (let at = 1000; at < 1020; at++) own.throttled(at, at)
    expect(own.allowed).toBe(1)
  })
})

describe('items', () => {
  it('give way to the calls of clients for a second', () => {
    const clients = { lastAt: 1000 }
    const way = givingWay(clients)
    expect([way.waitMs(0, 1000), way.waitMs(2, 1000)]).toEqual([0, undefined])
    way.started(1001)
    expect([way.waitMs(1, 1004), way.waitMs(1, 1011)]).toEqual([7, 0])
    expect(way.waitMs(15, 2001)).toBe(0)
  })

  it('leave a tenth of each window of their key, and ask for one more only when they know what is left', () => {
    const begun = Date.UTC(2026, 1, 10, 12, 0, 0)
    let now = begun
    const limits = headroom(() => now)
    const quota = { scope: 'key_rpm', subject: 'key:k', unit: 'requests', window: 'minute', limit: 20 } as const
    const caller = { keyId: 'k', quotas: [quota], slots: [] } as unknown as Caller
    expect([limits.room(caller, 10, 0), limits.room(caller, 10, 1)]).toEqual(['now', 'later'])
    // As answers tell it: the second since 1970 in which the window ends.
    const tell = (left: number) =>
      limits.learn(caller, {
        'x-ratelimit-limit-requests': '20',
        'x-ratelimit-remaining-requests': String(left),
        'x-ratelimit-reset-requests': String(begun / 1000 + 60),
      })
    tell(5)
    for (let started = 0; started < 3; started++) {
      expect(limits.room(caller, 10, started)).toBe('now')
      limits.started(caller, 10)
    }
    expect(limits.room(caller, 10, 3)).toBe(60_000)
    // An answer that was admitted before the others tells of more than is left.
    tell(4)
    expect(limits.room(caller, 10, 0)).toBe(60_000)
    now = begun + 60_001
    expect(limits.room(caller, 10, 0)).toBe('now')
  })

  it('that no window has room for run, so that their refusal ends them', () => {
    const limits = headroom(() => 0)
    const quota = { scope: 'key_tpd', subject: 'key:k', unit: 'tokens', window: 'day', limit: 20 } as const
    const caller = { keyId: 'k', quotas: [quota], slots: [] } as unknown as Caller
    limits.learn(caller, {
      'x-ratelimit-limit-tokens': '20',
      'x-ratelimit-remaining-tokens': '10',
      'x-ratelimit-reset-tokens': '86400',
    })
    expect([limits.room(caller, 80, 0), limits.room(caller, 84, 0)]).toEqual([86_400_000, 'now'])
  })

  it('leave a place of a key whose calls at once are limited', () => {
    const slots = [{ scope: 'key_parallel_requests', subject: 'key:k', limit: 4 }]
    const caller = { keyId: 'k', quotas: [], slots } as unknown as Caller
    const limits = headroom(() => 0)
    expect([limits.room(caller, 10, 2), limits.room(caller, 10, 3)]).toEqual(['now', 'later'])
  })
})

describe('after a failure', () => {
  const following = (failure: FailureName, tries = 0, retryAfterSeconds?: number) =>
    afterFailure(
      new GatewayError(failure, '', retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      tries,
      () => 1,
    )

  it('of the provider an item is tried again, later each time, five times in all', () => {
    const pauses = [0, 1, 2, 3].map((tries) => following('upstream_failed', tries))
    expect(pauses.map((one) => (one.kind === 'again' ? one.delayMs : one.kind))).toEqual([
      4000, 12_000, 36_000, 108_000,
    ])
    expect(following('upstream_failed', 4)).toEqual({ kind: 'ends' })
    expect(following('upstream_timeout', 0, 30)).toMatchObject({ kind: 'again', delayMs: 30_000, isThrottled: false })
    expect(following('upstream_rate_limited', 0, 7)).toMatchObject({ kind: 'again', isThrottled: true, pauseMs: 7000 })
  })

  it('of a limit, a budget or a store the batch waits, a minute at most before it looks again', () => {
    expect(following('rate_limited', 4, 12)).toEqual({ kind: 'waits', delayMs: 12_000 })
    expect(following('rate_limited', 0, 80_000)).toEqual({ kind: 'waits', delayMs: 60_000 })
    for (const failure of ['exceeds_limit', 'exceeds_budget'] as const)
      expect(following(failure)).toEqual({ kind: 'ends' })
    for (const failure of ['budget_exceeded', 'store_unavailable', 'no_healthy_deployment'] as const) {
      expect(following(failure, 4)).toMatchObject({ kind: 'waits' })
    }
  })

  it('of the request itself, or of its key, it is the result', () => {
    for (const failure of ['invalid_request', 'authentication', 'permission', 'upstream_rejected'] as const) {
      expect(following(failure)).toEqual({ kind: 'ends' })
    }
  })
})

describe('a request line', () => {
  const read = (line: string) => {
    const found = readRequestLine(new TextEncoder().encode(line))
    return found && [found.customId, new TextDecoder().decode(found.body)]
  }

  it('keeps the bytes of its body', () => {
    const body = '{ "model":"m",  "n": 1.0, "s":"\\u00e9 }" }'
    expect(read(`{"custom_id": "a\\"b" , "method":"POST","body" : ${body} }`)).toEqual(['a"b', body])
  })

  it('is read where its names are escaped or repeated, and is none without a body', () => {
    expect(read('{"custom\\u005fid":"a","body":{"x":1}}')).toEqual(['a', '{"x":1}'])
    expect(read('{"custom_id":"a","body":1,"body":{"x":2}}')).toEqual(['a', '{"x":2}'])
    expect([read('{"custom_id":"a"}'), read('no')]).toEqual([undefined, undefined])
  })
})
