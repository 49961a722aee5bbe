import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { documentation } from '../../../src/api/docs/index.ts'
import { routes } from '../../../src/app.ts'
import { withGateway } from '../../support/with-gateway.ts'

const executablePath = '/usr/bin/chromium'
const missing = !existsSync(executablePath) && !process.env.CI
const contracts = [...routes, ...documentation(routes)].map(({ contract }) => contract)

describe.skipIf(missing)('the documentation page', () => {
  const gateway = withGateway('model_list:\n  - model_name: echo\n    gateway_params: { model: echo/echo }\n')
  let browser: Browser
  let page: Page
  let complaints: string[]
  let requested: string[]

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking', '--no-first-run'],
    })
  })
  afterAll(() => browser.close())

  beforeEach(async () => {
    page = await browser.newPage()
    complaints = []
    requested = []
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => requested.push(request.url()))
  })
  afterEach(() => page.close())

  const open = async (size: { width: number; height: number }, hash = '') => {
    await page.setViewportSize(size)
    await page.goto(`${gateway.url}/docs${hash}`)
    await page.locator('details').first().waitFor()
  }
  /** In the page itself: a hundred clicks of a mouse that looks first take half a minute. */
  async function openAll(): Promise<void> {
    await page.evaluate(
      `for (const closed of document.querySelectorAll('details:not([open]) > summary')) closed.click()`,
    )
    await expect.poll(() => page.locator('details[open]').count(), { timeout: 10_000 }).toBe(contracts.length)
  }
  const desktop = { width: 1280, height: 900 }
  const overflow = () => page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')

  it('lists every route with its method, path and summary, in the order of the contracts', async () => {
    await open(desktop)
    const listed = await page.locator('details > summary').allInnerTexts()
    const words = listed.map((text) => text.replace(/\s+/g, ' ').trim().toLowerCase())
    expect(words.length).toBe(contracts.length)
    for (const { method, path, summary } of contracts) {
      expect(words).toContain(`${method} ${path} ${summary}`.toLowerCase())
    }
  })

  it('opens a route: its fields, an example that can be sent as it is, and its answers', async () => {
    await open(desktop)
    const route = page.locator('details', { hasText: '/v1/chat/completions' }).first()
    expect(await route.locator('pre').isVisible()).toBe(false)
    await route.locator('summary').click()
    const text = await route.textContent()
    for (const expected of ['model', 'messages', 'stream', 'required', '200', 'default'])
      expect(text).toContain(expected)
    const example = (await route.locator('pre').textContent()) ?? ''
    expect(example).toContain(`${gateway.url}/v1/chat/completions`)
    const body = /-d '(.*)'/.exec(example)?.[1] ?? ''
    expect((await gateway.chat(body)).status).toBe(200)
  })

  it('opens every route without a complaint, and leads to one by its address', async () => {
    await open(desktop, '#getHealth')
    expect(await page.locator('#getHealth').getAttribute('open')).not.toBeNull()
    await openAll()
    expect(complaints).toEqual([])
  })

  it('runs nothing but its own file, whatever gets into it', async () => {
    await open(desktop)
    const answer = await gateway.fetch('/docs')
    expect(answer.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
    const ran = await page.evaluate(`(async () => {
      const refused = []
      const tried = (what, attempt) => { try { attempt() } catch (error) { refused.push(what + ': ' + error.name) } }
      const script = document.createElement('script')
      tried('text of a script', () => { script.textContent = 'window.ran = true' })
      script.append('window.ran = true')
      document.body.append(script)
      tried('markup', () => { document.body.innerHTML = '<b>new</b>' })
      const image = Object.assign(document.createElement('img'), { src: 'data:,' })
      tried('handler', () => image.setAttribute('onerror', 'window.ran = true'))
      document.body.append(image)
      document.body.setAttribute('style', 'color: rgb(1, 2, 3)')
      const sent = await fetch('https://elsewhere.example/').then(() => 'sent', () => 'blocked')
      await new Promise((done) => setTimeout(done, 50))
      return { ran: window.ran === true, refused: refused.slice(0, 2), sent, styled: getComputedStyle(document.body).color === 'rgb(1, 2, 3)' }
    })()`)
    expect(ran).toEqual({
      ran: false,
      refused: ['text of a script: TypeError', 'markup: TypeError'],
      sent: 'blocked',
      styled: false,
    })
    const broken = (text: string) => /content security policy|requires 'Trusted/i.test(text)
    expect(complaints.filter(broken).length).toBeGreaterThanOrEqual(4)
    expect(complaints.filter((text) => !broken(text))).toEqual([])
  })

  it('asks nobody but the gateway', async () => {
    await open(desktop)
    expect(requested.length).toBeGreaterThan(1)
    expect(requested.filter((url) => !url.startsWith(`${gateway.url}/`))).toEqual([])
  })

  it('fits a telephone of 390 px, opened routes too', async () => {
    await open({ width: 390, height: 844 })
    expect(await overflow()).toBe(0)
    await openAll()
    expect(await overflow()).toBe(0)
    expect(complaints).toEqual([])
  })
})
