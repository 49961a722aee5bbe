import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { strictly, within } from '../../../src/stores/kv/deadline.ts'
import { StoreUnavailable } from '../../../src/stores/kv/store-unavailable.ts'

const DEADLINE_MS = 120
const DEADLINE = strictly(DEADLINE_MS)

describe('the deadline of a store', () => {
  const server = createServer((_request, response) => void response.end('here'))
  let url: string
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  it('ends what does not answer, in time', async () => {
    const startedAt = performance.now()
    await expect(within(DEADLINE, new Promise(() => {}))).rejects.toThrow(StoreUnavailable)
    expect(performance.now() - startedAt).toBeGreaterThan(DEADLINE_MS * 0.9)
    expect(performance.now() - startedAt).toBeLessThan(DEADLINE_MS + 400)
  })

  it('waits longer for one that answers others meanwhile, and not for ever', async () => {
    const heartbeat = { answeredAt: Number.NEGATIVE_INFINITY }
    const others = setInterval(() => {
      heartbeat.answeredAt = performance.now()
    }, 20)
    try {
      const late = (ms: number) => new Promise<string>((resolve) => setTimeout(resolve, ms, 'late'))
      const deadline = { limitMs: DEADLINE_MS, utmostMs: 4 * DEADLINE_MS, silenceMs: DEADLINE_MS }
      expect(await within(deadline, late(2.5 * DEADLINE_MS), heartbeat)).toBe('late')
      const startedAt = performance.now()
      await expect(within(deadline, new Promise(() => {}), heartbeat)).rejects.toThrow(StoreUnavailable)
      expect(performance.now() - startedAt).toBeGreaterThan(3.9 * DEADLINE_MS)
      expect(performance.now() - startedAt).toBeLessThan(6 * DEADLINE_MS)
    } finally {
      clearInterval(others)
    }
  })

  it('gives up one that has fallen silent, whoever it answered before', async () => {
    const heartbeat = { answeredAt: Number.NEGATIVE_INFINITY }
    const deadline = { limitMs: DEADLINE_MS, utmostMs: 20 * DEADLINE_MS, silenceMs: DEADLINE_MS }
    const startedAt = performance.now()
    setTimeout(() => {
      heartbeat.answeredAt = performance.now()
    }, DEADLINE_MS / 2)
    await expect(within(deadline, new Promise(() => {}), heartbeat)).rejects.toThrow(StoreUnavailable)
    expect(performance.now() - startedAt).toBeGreaterThan(1.3 * DEADLINE_MS)
    expect(performance.now() - startedAt).toBeLessThan(5 * DEADLINE_MS)
  })

  it('takes no store for one that is away because this process was busy', async () => {
    await (await fetch(url)).text()
    const answer = within(
      DEADLINE,
      fetch(url).then((response) => response.text()),
    )
    const until = performance.now() + 4 * DEADLINE_MS
    while (performance.now() < until);
    expect(await answer).toBe('here')
  })
})
