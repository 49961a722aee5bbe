import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium, type Page } from 'playwright-core'
import { afterAll, expect, it } from 'vitest'
import { chromiumPath } from '../support/console/chromium.node.ts'
import { DEMO_KEY } from '../support/console/demo-data.ts'
import { type ConsolePage, expectAccessible, withConsole } from '../support/console/with-console.ts'
import { identityProvider } from '../support/identity-provider.node.ts'
import { startMailReceiver } from '../support/mail-receiver.node.ts'
import { PASSWORD } from '../support/passwords.ts'

const CLIENT = { id: 'gateway', secret: 'the-secret-of-the-gateway' }
/** The port of the gateway: the provider and the links of mails name it before the gateway is there. */
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const mail = await startMailReceiver()
const provider = await identityProvider({ ...CLIENT, redirectUri: `${url}/auth/callback` }, 'example.com')

const gateway = withConsole({
  isEmpty: true,
  port,
  config: () => `general_settings:
  email_provider: smtp
  email_base_url: ${url}
  email_from: gateway@example.com
  email_smtp_host: 127.0.0.1
  email_smtp_port: ${mail.port}
  enable_sso: true
  sso_provider: okta
  sso_issuer: ${provider.issuer}
  sso_client_id: ${CLIENT.id}
  sso_client_secret: ${CLIENT.secret}
  sso_redirect_uri: ${url}/auth/callback
  sso_admin_email_list: [boss@example.com]
model_list:
  - { model_name: echo, gateway_params: { model: echo/echo } }
`,
})
afterAll(async () => {
  await mail.close()
  await provider.close()
})

const ADA = 'ada@example.com'
const SECOND = 'another horse of another battery'
const THIRD = 'yet one more horse and staple'

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 })

async function signIn(page: ConsolePage, password: string): Promise<void> {
  await page.getByLabel('E-mail').fill(ADA)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
}

/** What the pages of the identity provider ask. */
async function signOn(page: Page, name: string): Promise<void> {
  await page.fill('input[name=login]', name)
  await page.fill('input[name=password]', 'anything')
  await page.click('button[type=submit]')
  await page.click('button[type=submit]')
}

it('an invitation says what it is to, and its link of a mail leads into the console', async () => {
  await gateway.ask('POST', '/ui/api/organizations', { organization_id: 'acme', organization_name: 'Acme' })
  const invitation = { email: ADA, organization_id: 'acme', organization_role: 'org_admin' }
  expect((await gateway.ask('POST', '/ui/api/invitations', invitation)).status).toBe(201)
  const page = await gateway.open(`invite#${'a'.repeat(43)}`, { as: 'nobody' })
  await page.getByText('was used already').waitFor()
  // In the tab of a former one, too: the two addresses differ after the `#` alone.
  await page.goto(await mail.linkTo(ADA))
  await page.getByText('Acme').waitFor()
  await page.getByText('org admin').waitFor()
  await expect.poll(() => page.url()).not.toContain('#')
  await expectAccessible(page)
  await page.getByLabel('New password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Accept' }).click()
  await page.getByRole('button', { name: 'Not now' }).click()
  await heading(page, 'Overview').waitFor()
  expect((await gateway.ask('GET', '/ui/api/invitations')).body.data[0]).toMatchObject({
    email: ADA,
    state: 'accepted',
  })
})

it('a forgotten password is set anew by the link of a mail, and the sessions of the old one end', async () => {
  const before = await gateway.open('account', { as: 'nobody' })
  await signIn(before, PASSWORD)
  await before.getByRole('button', { name: 'Not now' }).click()
  await heading(before, 'Account').waitFor()
  const page = await gateway.open('sign-in', { as: 'nobody' })
  await page.getByRole('link', { name: 'Forgot the password?' }).click()
  await page.getByLabel('E-mail').fill(ADA)
  await page.getByRole('button', { name: 'Send a link' }).click()
  await page.getByText('from gateway@example.com').waitFor()
  await page.goto(await mail.linkTo(ADA, 1))
  await page.getByText(`For ${ADA}`).waitFor()
  await page.getByLabel('New password').fill('short')
  await page.getByText('7 more characters.').waitFor()
  await page.getByLabel('New password').fill(SECOND)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('all your sessions have ended').waitFor()
  await page.getByRole('link', { name: 'To the sign-in' }).click()
  await signIn(page, SECOND)
  await page.getByRole('button', { name: 'Not now' }).click()
  await heading(page, 'Overview').waitFor()
  await before.show('people')
  await before.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
})

it('whose password must change changes it first, and comes to the page that was asked for', async () => {
  const [account] = (await gateway.ask('GET', `/ui/api/accounts?search=${ADA}`)).body.data
  const changed = await gateway.ask('PATCH', `/ui/api/accounts/${account.account_id}`, { must_change_password: true })
  expect(changed.status).toBe(200)
  const page = await gateway.open('models', { as: 'nobody' })
  await signIn(page, SECOND)
  await heading(page, 'Choose a new password').waitFor()
  await expectAccessible(page)
  await page.getByLabel('Present password').fill('none that was ever set')
  await page.getByLabel('New password').fill(THIRD)
  await page.keyboard.press('Enter')
  await page.getByText('This is not the current password.').waitFor()
  await page.getByLabel('Present password').fill(SECOND)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Not now' }).click()
  await heading(page, 'Models').waitFor()
  // Those who hear the page are told where they are.
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Models')
})

it('single sign-on leads over the pages of the provider to the page that was asked for', async () => {
  const page = await gateway.open('deployments', {
    as: 'nobody',
    forgives: [/^foreign request/, /ERR_NAME_NOT_RESOLVED/],
  })
  await page.getByRole('link', { name: 'Continue with Okta' }).click()
  await signOn(page, 'boss')
  await heading(page, 'Deployments').waitFor()
  await page.go('account')
  await page.getByText('boss@example.com').first().waitFor()
  await page.go('settings?tab=sign-in')
  await page.getByRole('button', { name: 'Check', exact: true }).click()
  await page.getByText(`${url}/auth/callback`).first().waitFor()
  await page.getByText(`${provider.issuer}/auth`).waitFor()
  await expectAccessible(page)
})

/** Asks for a new team when the session has just ended. */
async function afterItsEnd(page: ConsolePage, name: string) {
  await page.go('teams')
  await page.getByRole('button', { name: 'New team' }).first().click()
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Create' }).click()
  const again = page.getByRole('dialog', { name: 'Your session has ended' })
  await again.waitFor()
  return again
}

it('a session that has ended amid a form is opened again in another tab by single sign-on', async () => {
  const page = await gateway.open('teams')
  const again = await afterItsEnd(page, 'Kept over an identity provider')
  const [other] = await Promise.all([
    page.context().waitForEvent('page'),
    again.getByRole('link', { name: 'Continue with Okta' }).click(),
  ])
  await signOn(other, 'boss')
  await heading(other, 'Teams').waitFor()
  await page.evaluate("dispatchEvent(new Event('focus'))")
  await again.getByRole('button', { name: 'Go on as boss@example.com' }).click()
  // Begun with the master key, it is not done in the name of another.
  await page.getByText('Somebody else has signed in, so this was not done.').waitFor()
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('Kept over an identity provider is created.').waitFor()
  const created = async () => (await gateway.ask('GET', '/ui/api/audit/events?action=team.create')).body.data
  await expect.poll(created).toMatchObject([{ actor_name: 'boss@example.com' }])
})

it('an invitation is accepted by who signs on, and a reload does not lose it', async () => {
  const invitation = { email: 'eve@example.com', organization_id: 'acme', organization_role: 'org_auditor' }
  await gateway.ask('POST', '/ui/api/invitations', invitation)
  const page = await gateway.open('sign-in', {
    as: 'nobody',
    forgives: [/^foreign request/, /ERR_NAME_NOT_RESOLVED/],
  })
  await page.goto(await mail.linkTo('eve@example.com'))
  await expect.poll(() => page.url()).not.toContain('#')
  await page.reload()
  await page.getByRole('link', { name: 'Continue with Okta' }).click()
  await signOn(page, 'eve')
  await page.getByText('org auditor').waitFor()
  await page.getByRole('button', { name: 'Accept' }).click()
  await heading(page, 'Overview').waitFor()
  const { body } = await gateway.ask('GET', '/ui/api/invitations?search=eve')
  expect(body.data).toMatchObject([{ state: 'accepted' }])
})

it('Back shows nothing of who has signed out', async () => {
  // What browsers do and Playwright keeps them from: the page is not read again, but shown as it was left.
  const ignoreDefaultArgs = ['--disable-back-forward-cache']
  const args = ['--no-sandbox', '--disable-dev-shm-usage']
  const browser = await chromium.launch({ executablePath: chromiumPath(), args, ignoreDefaultArgs })
  try {
    const page = await browser.newPage()
    await page.goto(`${url}/console/account`)
    await page.getByRole('button', { name: 'Use the master key' }).click()
    await page.getByLabel('Master key').fill(DEMO_KEY)
    await page.keyboard.press('Enter')
    await page.getByText('belongs to no account').waitFor()
    await page
      .getByRole('button', { name: /Master key/ })
      .last()
      .click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await heading(page, 'Sign in to the gateway').waitFor()
    await page.evaluate('history.back()')
    await page.waitForURL('**/account')
    await heading(page, 'Sign in to the gateway').waitFor()
    expect(await page.getByText('belongs to no account').count()).toBe(0)
  } finally {
    await browser.close()
  }
})

it('whoever tries too often is told how long to wait, and the button waits as long', async () => {
  const page = await gateway.open('sign-in', { as: 'nobody' })
  const button = page.locator('form button[type=submit]')
  await expect
    .poll(
      async () => {
        await signIn(page, 'none of the passwords')
        await page.getByRole('alert').first().waitFor()
        return button.textContent()
      },
      { timeout: 30_000, interval: 50 },
    )
    .toMatch(/^Again in \d+ s$/)
  expect(await button.isDisabled()).toBe(true)
  await expectAccessible(page)
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
