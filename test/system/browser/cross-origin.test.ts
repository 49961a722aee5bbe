import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { start } from '../../support/gateway.node.ts'
import { MASTER_KEY, type TestGateway } from '../../support/gateway.ts'

const executablePath = '/usr/bin/chromium'
const missing = !existsSync(executablePath) && !process.env.CI
const env = { GATEWAY_MASTER_KEY: MASTER_KEY, GATEWAY_SALT_KEY: 'salt-of-the-tests-0f4d1b7a93' }
const model = 'model_list:\n  - model_name: echo\n    gateway_params: { model: echo/echo }\n'

describe.skipIf(missing)('a page of another origin', () => {
  const page = createServer((_, response) => response.end('<!doctype html><title>page</title>'))
  let origin: string
  let browser: Browser
  let open: TestGateway
  let closed: TestGateway

  beforeAll(async () => {
    await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(page.address() as AddressInfo).port}`
    open = await start(`general_settings:\n  cors_origins: ["${origin}"]\n  cache_enabled: true\n${model}`, env)
    closed = await start(model, env)
    browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking', '--no-first-run'],
    })
  })
  afterAll(async () => {
    await browser.close()
    await open.close()
    await closed.close()
    page.close()
  })

  /** Streams a chat from inside the page and says what it could read. */
  async function chatFrom(gateway: TestGateway) {
    const tab = await browser.newPage()
    await tab.goto(origin)
    return tab.evaluate(
      async ([base, key]) => {
        try {
          const response = await fetch(`${base}/v1/chat/completions`, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-stainless-lang': 'js' },
            body: JSON.stringify({ model: 'echo', stream: true, messages: [{ role: 'user', content: 'Hello page' }] }),
          })
          const requestId = response.headers.get('x-request-id')
          const age = response.headers.get('age')
          return { text: await response.text(), requestId, age }
        } catch (error) {
          return { error: String(error) }
        }
      },
      [gateway.url, MASTER_KEY] as const,
    )
  }

  it('reads a stream when its origin is configured', async () => {
    const { text, requestId } = await chatFrom(open)
    expect(text).toContain('"content":"Hello"')
    expect(text).toContain('[DONE]')
    expect(requestId).toMatch(/^req_/)
    const again = await chatFrom(open)
    expect(again.text).toBe(text)
    expect(again.age).toMatch(/^\d+$/)
  })

  it('reads nothing when it is not', async () => {
    expect(await chatFrom(closed)).toEqual({ error: 'TypeError: Failed to fetch' })
  })

  it('is answered its preflight without a key, and errors are readable', async () => {
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    }
    const preflight = await fetch(`${open.url}/v1/chat/completions`, { method: 'OPTIONS', headers })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin)
    const refused = await fetch(`${open.url}/v1/models`, { headers: { origin } })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('access-control-allow-origin')).toBe(origin)
    const stranger = await fetch(`${open.url}/v1/models`, { headers: { origin: 'http://elsewhere.test' } })
    expect(stranger.headers.get('access-control-allow-origin')).toBeNull()
  })
})
