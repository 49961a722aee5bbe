import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { within } from '../../../src/stores/kv/deadline.ts'
import { StoreUnavailable } from '../../../src/stores/kv/shared-store.ts'

const DEADLINE_MS = 120

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
    await expect(within(DEADLINE_MS, new Promise(() => {}))).rejects.toThrow(StoreUnavailable)
    expect(performance.now() - startedAt).toBeGreaterThan(DEADLINE_MS * 0.9)
    expect(performance.now() - startedAt).toBeLessThan(DEADLINE_MS + 100)
  })

  it('takes no store for one that is away because this process was busy', async () => {
    await (await fetch(url)).text()
    const answer = within(
      DEADLINE_MS,
      fetch(url).then((response) => response.text()),
    )
    const until = performance.now() + 4 * DEADLINE_MS
    while (performance.now() < until);
    expect(await answer).toBe('here')
  })
})
