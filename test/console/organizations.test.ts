import { expect, it } from 'vitest'
import { DEMO_SALT_KEY } from '../support/console/demo.node.ts'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'
import { signedIn } from '../support/people.ts'

const gateway = withConsole()

const made = (organization_id: string) =>
  gateway.ask('POST', '/ui/api/organizations', { organization_id, organization_name: `The ${organization_id}` })

it('an organization is made, changed and deleted', async () => {
  const page = await gateway.open('organizations')
  expect(page.traffic.length).toBeLessThanOrEqual(6)
  await page.keyboard.press('c')
  await page.keyboard.type('Made in the browser')
  await expectAccessible(page)
  await page.keyboard.press('Enter')
  const panel = page.getByRole('complementary')
  await panel.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Warn at').fill('40')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await panel.getByText('A warning is sent at $40').waitFor()
  const found = async () => (await gateway.ask('GET', '/ui/api/organizations?search=made+in+the')).body.data
  expect(await found()).toMatchObject([{ organization_name: 'Made in the browser', soft_budget: 40, max_budget: null }])
  await expectAccessible(page)
  await panel.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Made in the browser is deleted.').waitFor()
  expect(await found()).toEqual([])
})

it('an organization with teams is kept, and the page says why', async () => {
  await made('keeper')
  await gateway.ask('POST', '/ui/api/teams', { team_id: 'held', organization_id: 'keeper' })
  const page = await gateway.open('organizations?open=keeper')
  await page.getByRole('complementary').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  const { status, body } = await gateway.ask('DELETE', '/ui/api/organizations/keeper')
  expect(status).toBe(409)
  await page.getByText(body.error.message).waitFor()
  expect((await gateway.ask('GET', '/ui/api/organizations/keeper')).status).toBe(200)
})

it('members of an organization get no role above that of who gives it', async () => {
  const person = (email: string, role: string) =>
    signedIn(
      { url: gateway.url, sql: gateway.demo.sql, saltKey: DEMO_SALT_KEY },
      { email, organizations: { products: role } },
    )
  const { userId } = await person('rises@organizations.test', 'org_member')
  await person('above@organizations.test', 'org_owner')
  const page = await gateway.open('organizations?open=products&tab=members', { as: 'org_admin' })
  const panel = page.getByRole('complementary')
  const role = panel.getByLabel('Role of rises@organizations.test in Products')
  expect(await role.locator('option').allTextContents()).toEqual(['Admin', 'Billing', 'Auditor', 'Member'])
  await role.selectOption('org_billing')
  await page.getByText('rises@organizations.test is Billing of Products.').waitFor()
  const { body } = await gateway.ask('GET', '/ui/api/organizations/products/members?limit=200')
  expect(body.data).toContainEqual(expect.objectContaining({ user_id: userId, role: 'org_billing' }))
  await panel.getByText('above@organizations.test').waitFor()
  expect(await panel.getByLabel('Role of above@organizations.test in Products').count()).toBe(0)
})

it.each(['org_owner', 'org_billing', 'org_member'] as const)(
  'each tab of an organization as a %s, on a phone: what is shown may be asked for',
  async (as) => {
    const page = await gateway.open('organizations?open=products', { as, width: 390 })
    const panel = page.getByRole('dialog')
    await panel.getByRole('tab').first().waitFor()
    for (const name of await panel.getByRole('tab').allTextContents()) {
      await panel.getByRole('tab', { name, exact: true }).click()
      await page.waitForLoadState('networkidle')
    }
    await expectAccessible(page)
    expect(await panel.getByRole('button', { name: 'Delete' }).count()).toBe(0)
  },
)
