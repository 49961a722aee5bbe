import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'
import { PASSWORD } from '../support/passwords.ts'
import { totp, wrongCode } from '../support/second-factor.ts'

const gateway = withConsole({ isEmpty: true })
const ADMIN = 'first@example.com'

describe('the way in', () => {
  it('begins with the link of the greeting, which makes the first administrator', async () => {
    const token = await gateway.demo.setupToken()
    const page = await gateway.open(`welcome#${token}`, { as: 'nobody' })
    await expect.poll(() => page.url()).not.toContain('#')
    await page.getByLabel('E-mail').fill(ADMIN)
    await page.getByLabel('New password').fill('short')
    await page.getByText('7 more characters.').waitFor()
    await page.getByLabel('New password').fill(PASSWORD)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Make the account' }).click()
    await page.getByRole('heading', { name: 'You are its administrator' }).waitFor()
    // Nothing stands between the first account and a first call: a second factor is offered at the next visit.
    await page.getByRole('link', { name: 'Add a provider' }).click()
    await page.getByRole('searchbox', { name: 'Search providers' }).waitFor()
    await page.getByRole('link', { name: 'Overview' }).first().click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    expect((await gateway.ask('GET', '/auth/config')).body).toMatchObject({ first_run: false })
  })

  it('leads by a password to the page that was asked for', async () => {
    const page = await gateway.open('teams', { as: 'nobody' })
    await page.getByLabel('E-mail').fill(ADMIN)
    await page.getByLabel('Password').fill('not the password of anybody')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Add a second factor?' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Not now' }).click()
    await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor()
    // It is asked once.
    await page.reload()
    await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor()
  })

  it('says in words what single sign-on did not like', async () => {
    const page = await gateway.open('sign-in?problem=state_expired', { as: 'nobody', width: 390 })
    await page.getByText('Signing in took too long').waitFor()
    await expectAccessible(page)
    await page.go('sign-in?problem=not_invited')
    await page.getByText('Nobody has invited your address').waitFor()
  })

  it.each(['reset', 'invite'])('tells of a link to %s that is too old', async (path) => {
    const page = await gateway.open(`${path}#${'a'.repeat(43)}`, { as: 'nobody' })
    await page.getByText(/was used already/).waitFor()
    await expectAccessible(page)
  })

  it('takes a second factor: set up under Account, then asked for, by the app or a recovery code', async () => {
    const page = await gateway.open('account', { as: 'nobody' })
    await signIn(page)
    const notNow = page.getByRole('button', { name: 'Not now' })
    await notNow.click()
    await page.getByRole('button', { name: 'Set up' }).click()
    const dialog = page.getByRole('dialog', { name: 'Set up a second factor' })
    await dialog.getByRole('img', { name: 'The secret as a QR code' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })

    // The same on the way in, where it is offered. What is shown once is not lost when the session is read again.
    await page.evaluate("localStorage.removeItem('second-factor-later')")
    await page.reload()
    await page.getByRole('button', { name: 'Set up' }).click()
    await page.getByRole('img', { name: 'The secret as a QR code' }).waitFor()
    await expectAccessible(page)
    const secret = String(await page.locator('main .mono').first().textContent()).replaceAll(' ', '')
    await page.getByLabel('Code', { exact: true }).fill(totp(secret))
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.locator('.codes li').first().waitFor()
    const codes = await page.locator('.codes li').allTextContents()
    expect(codes.length).toBeGreaterThan(5)
    expect(await notNow.count()).toBe(0)
    await page.clock.install()
    await page.clock.fastForward(10_000)
    const read = page.waitForResponse((response) => response.url().endsWith('/auth/me'))
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
    expect(await (await read).json()).toMatchObject({ mfa_enabled: true })
    await page.getByRole('button', { name: 'I have saved them' }).click()
    await page.getByText('On: signing in takes a code of your app.').waitFor()
    await expectAccessible(page)

    const later = await gateway.open('account', { as: 'nobody', forgives: [/answered 403: GET \/ui\/api\/teams/] })
    await signIn(later)
    await later.getByLabel('Code').fill(wrongCode(secret))
    await later.keyboard.press('Enter')
    await later.getByRole('alert').waitFor()
    await later.getByRole('button', { name: 'Use a recovery code' }).click()
    await later.getByLabel('Recovery code').fill(String(codes[0]))
    await later.keyboard.press('Enter')
    await later.getByRole('heading', { name: 'Account', level: 1 }).waitFor()
    await later.getByRole('button', { name: 'End', exact: true }).first().click()
    await later.getByText('The session has ended.').waitFor()

    // Over a form, too, also when the person looks for the app in between.
    await later.go('teams')
    await later.getByRole('button', { name: 'New team' }).first().click()
    await later.getByLabel('Name', { exact: true }).fill('Kept over a code')
    await later.context().clearCookies()
    await later.getByRole('button', { name: 'Create' }).click()
    await signIn(later)
    await later.getByRole('button', { name: 'Use a recovery code' }).click()
    await later.getByLabel('Recovery code').fill(String(codes[1]))
    const again = later.waitForResponse((response) => response.url().endsWith('/auth/me'))
    await later.clock.install()
    await later.clock.fastForward(10_000)
    await later.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
    expect(await (await again).json()).toMatchObject({ standing: 'unverified' })
    await later.keyboard.press('Enter')
    await later.getByText('Kept over a code is created.').waitFor()
  })
})

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail').fill(ADMIN)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
}
