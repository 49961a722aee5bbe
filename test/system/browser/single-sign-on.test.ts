import { existsSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { type IdentityProvider, identityProvider } from '../../support/identity-provider.node.ts'

const executablePath = '/usr/bin/chromium'
const missing = !existsSync(executablePath) && !process.env.CI
const CLIENT = { id: 'gateway', secret: 'a-secret.with~every_kind-of+letter%/:' }

describe.skipIf(missing)('single sign-on in a browser', () => {
  let front: Server
  let gateway: FullGateway
  let provider: IdentityProvider
  let browser: Browser
  let origin: string
  /** Takes the codes that come back from the gateway, where somebody is to steal them. */
  let withheld: string[] | undefined

  beforeAll(async () => {
    // The provider is told where people come back before the gateway knows its port.
    front = createServer((incoming, outgoing) => {
      const { method, url = '', headers } = incoming
      if (withheld && url.startsWith('/auth/callback')) {
        withheld.push(origin + url)
        outgoing.end('withheld')
        return
      }
      const forwarded = request(gateway.url + url, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      })
      incoming.pipe(forwarded)
    })
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
    const redirectUri = `${origin}/auth/callback`
    provider = await identityProvider({ ...CLIENT, redirectUri }, 'example.com')
    gateway = await startFullGateway(`general_settings:
  enable_sso: true
  sso_provider: okta
  sso_issuer: ${provider.issuer}
  sso_client_id: ${CLIENT.id}
  sso_client_secret: '${CLIENT.secret}'
  sso_redirect_uri: ${redirectUri}
  sso_admin_email_list: [ann@example.com]
`)
    browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking', '--no-first-run'],
    })
  })
  afterAll(async () => {
    await browser?.close()
    await gateway?.close()
    await provider?.close()
    front?.close()
  })

  /** Signs in on the provider's own page, and agrees to what the gateway asks for. */
  async function signIn(page: Page, name: string, next: string): Promise<void> {
    await page.goto(`${origin}/auth/login?next=${encodeURIComponent(next)}`)
    await page.fill('input[name=login]', name)
    await page.fill('input[name=password]', 'anything')
    await page.click('button[type=submit]')
    await page.click('button[type=submit]')
    await page.waitForURL(`${origin}/**`)
  }

  const me = (page: Page) => page.evaluate(async () => (await fetch('/auth/me')).json())

  it('ends where it was to go, in a session of the person', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await signIn(page, 'ann', '/docs')
    expect(page.url()).toBe(`${origin}/docs`)
    expect(await me(page)).toMatchObject({ email: 'ann@example.com', method: 'sso', role: 'platform_admin' })
    const cookies = await context.cookies()
    const own = cookies.filter(({ name }) => name.startsWith('gateway_'))
    expect(own.map(({ name, httpOnly, sameSite, path }) => ({ name, httpOnly, sameSite, path }))).toEqual(
      expect.arrayContaining([
        { name: 'gateway_session', httpOnly: true, sameSite: 'Lax', path: '/' },
        { name: 'gateway_sign_on', httpOnly: true, sameSite: 'Lax', path: '/auth' },
      ]),
    )
    // Known there: once more without a form.
    await context.clearCookies({ name: 'gateway_session' })
    await page.goto(`${origin}/auth/login?next=/docs`)
    await page.waitForURL(`${origin}/docs`)
    expect(await me(page)).toMatchObject({ email: 'ann@example.com' })
    await context.close()
  })

  it('tells a stranger why they may not come in', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await signIn(page, 'mallory', '/docs')
    expect(page.url()).toBe(`${origin}/console/sign-in?problem=not_invited`)
    expect(await me(page)).toEqual({ authenticated: false })
    await context.close()
  })

  it('does not take what another browser brought along', async () => {
    const [mine, victim] = [await browser.newContext(), await browser.newContext()]
    const page = await mine.newPage()
    withheld = []
    await signIn(page, 'ann', '/docs')
    const [stolen = ''] = withheld
    withheld = undefined
    expect(stolen).toContain('code=')
    const theirs = await victim.newPage()
    await theirs.goto(stolen)
    expect(theirs.url()).toBe(`${origin}/console/sign-in?problem=state_expired`)
    expect(await me(theirs)).toEqual({ authenticated: false })
    await mine.close()
    await victim.close()
  })
})
