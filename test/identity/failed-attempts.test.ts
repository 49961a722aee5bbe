import { describe, expect, it } from 'vitest'
import { failedAttempts } from '../../src/identity/failed-attempts.ts'
import { addressBlock } from '../../src/lib/addresses/address-range.ts'
import { testClock } from '../support/clock.ts'

const failures = (attempts: ReturnType<typeof failedAttempts>, address: string, count: number) =>
  Array.from({ length: count }, () => attempts.failed(address)).filter((refusal) => refusal !== undefined)

describe('requests without a valid credential', () => {
  it('are refused when their address has used up its minute, and told when to come back', () => {
    const clock = testClock()
    const attempts = failedAttempts(60, clock.now)
    expect(failures(attempts, '192.0.2.1', 60)).toEqual([])
    const [refusal] = failures(attempts, '192.0.2.1', 1)
    expect(refusal).toMatchObject({ status: 429, code: 'too_many_failed_authentications' })
    expect(refusal?.details.retryAfterSeconds).toBe(1)
    expect(failures(attempts, '192.0.2.2', 60)).toEqual([])
    clock.advance(10_000)
    expect(failures(attempts, '192.0.2.1', 60).length).toBe(50)
    clock.advance(3_600_000)
    expect(failures(attempts, '192.0.2.1', 61).length).toBe(1)
  })

  it('are counted for all of an IPv6 network together', () => {
    const attempts = failedAttempts(10, Date.now)
    for (let host = 0; host < 20; host++) attempts.failed(`2001:db8:1:2::${host.toString(16)}`)
    expect(attempts.failed('2001:db8:1:2:ffff::1')).toBeDefined()
    expect(attempts.failed('2001:db8:1:3::1')).toBeUndefined()
    expect(addressBlock('::ffff:192.0.2.1')).toBe(addressBlock('192.0.2.1'))
    expect(addressBlock('192.0.2.1')).not.toBe(addressBlock('192.0.2.2'))
    expect(addressBlock('')).toBe('')
  })

  it('slow down only those whose address has failed too often', async () => {
    const clock = testClock()
    const attempts = failedAttempts(10, clock.now)
    expect(attempts.pace('192.0.2.1')).toBeUndefined()
    failures(attempts, '192.0.2.1', 11)
    await attempts.pace('192.0.2.1')
    expect(attempts.pace('192.0.2.1')).toBeInstanceOf(Promise)
    expect(attempts.pace('192.0.2.2')).toBeUndefined()
    clock.advance(6000)
    expect(attempts.pace('192.0.2.1')).toBeUndefined()
  })

  it('are not counted from a time that is yet to come, once the clock was set back', () => {
    const clock = testClock()
    const attempts = failedAttempts(10, clock.now)
    failures(attempts, '192.0.2.1', 1)
    clock.advance(-3_600_000)
    expect(attempts.refused('192.0.2.1')).toBeUndefined()
    expect(attempts.pace('192.0.2.1')).toBeUndefined()
    expect(failures(attempts, '192.0.2.1', 11).length).toBe(1)
  })

  it('of 300,000 addresses leave memory flat', () => {
    const attempts = failedAttempts(10, Date.now)
    const before = process.memoryUsage().heapUsed
    for (let host = 0; host < 300_000; host++)
      attempts.failed(`10.${(host >> 16) & 255}.${(host >> 8) & 255}.${host & 255}`)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000)
  })

  it('are not counted where the operator wants none counted', () => {
    expect(failures(failedAttempts(0, Date.now), '192.0.2.1', 5000)).toEqual([])
  })
})
