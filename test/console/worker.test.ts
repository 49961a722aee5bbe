import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { axeViolations } from '../support/console/axe.ts'
import { chromiumOfTests } from '../support/console/chromium.node.ts'
import { watch } from '../support/console/watch.ts'
import { withConsole } from '../support/console/with-console.ts'
import { MASTER_KEY } from '../support/gateway.ts'
import { type DevWorker, startDevWorker } from '../system/worker/support/dev-worker.ts'
import { type Edge, edgeExists, startEdge } from '../system/worker/support/edge.ts'

const node = withConsole()

/** Of an answer's headers those that its line and its moment make; and those of compression, which the edge does itself. */
const OF_THE_LINE =
  /^(?:date|server|connection|keep-alive|transfer-encoding|content-length|content-encoding|vary|etag|x-request-id|cf-.*|alt-svc)$/

describe.skipIf(!edgeExists())('the console that the worker serves', () => {
  let edge: Edge
  let worker: DevWorker

  beforeAll(async () => {
    edge = await startEdge()
    worker = await startDevWorker(edge.variables)
  }, 120_000)
  afterAll(async () => {
    await worker?.stop()
    await edge?.close()
  })

  const asset = (end: string) =>
    `/assets/${readdirSync('build/console/files/assets').find((name) => name.endsWith(end)) ?? ''}`
  const FILES = [asset('.js'), asset('.css'), '/theme.js', '/docs.js', '/docs.css', '/favicon.svg', '/robots.txt']
  const PAGES = ['/console', '/console/teams?open=search', '/docs']
  const get = async (url: string, path: string, init: RequestInit = {}) => {
    const answer = await fetch(url + path, { redirect: 'manual', ...init })
    await answer.arrayBuffer()
    const headers = [...answer.headers].filter(([name]) => !OF_THE_LINE.test(name))
    return { status: answer.status, etag: answer.headers.get('etag'), headers: Object.fromEntries(headers) }
  }

  it.each([...PAGES, ...FILES])('answers %s with the headers of Node', async (path) => {
    const [here, there] = [await get(node.url, path), await get(worker.url, path)]
    expect([there.status, there.headers]).toEqual([here.status, here.headers])
    expect(here.status).toBe(200)
    for (const [url, { etag }] of [
      [node.url, here],
      [worker.url, there],
    ] as const) {
      expect(etag).toMatch(/^(?:W\/)?".+"$/)
      expect((await get(url, path, { headers: { 'if-none-match': String(etag) } })).status).toBe(304)
    }
  })

  it('is signed in to, and shows its first pages and a call', async () => {
    const context = await (await chromiumOfTests()).newContext({ baseURL: worker.url, reducedMotion: 'reduce' })
    try {
      const page = await context.newPage()
      const watched = await watch(page, worker.url, [])
      await page.goto('/console/requests')
      await page.getByRole('button', { name: 'Use the master key' }).click()
      await page.getByLabel('Master key').fill(MASTER_KEY)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
      await watched.settled()
      expect(await axeViolations(page)).toEqual([])
      const asked = await fetch(`${worker.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Seen in the console' }] }),
      })
      expect(asked.status).toBe(200)
      await page.locator('main tbody tr[data-id]', { hasText: 'echo' }).first().waitFor({ timeout: 20_000 })
      await page.getByRole('link', { name: 'Overview' }).first().click()
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
      await watched.settled()
      expect(watched.problems()).toEqual([])
    } finally {
      await context.close()
    }
  })
})
