import { expect, it } from 'vitest'
import { expectAccessible, type OpenOptions, withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()

/** A team whose members make keys, in which whoever is signed in develops. */
async function openIn(team_id: string, more: object, path = 'my-keys', options: OpenOptions = {}) {
  await gateway.ask('POST', '/ui/api/teams', {
    team_id,
    team_name: `Team ${team_id}`,
    organization_id: 'research',
    ...more,
  })
  return gateway.open(path, { as: { teams: { [team_id]: 'team_developer' } }, ...options })
}
const keysOf = async (team: string) => (await gateway.ask('GET', `/ui/api/keys?team_id=${team}`)).body.data

it('a developer makes a key within what the team allows, renames it, regenerates it and revokes it', async () => {
  const page = await openIn('own-a', {
    self_service_keys_enabled: true,
    self_service_max_keys_per_user: 1,
    self_service_budget_ceiling: 20,
    self_service_max_expiry_days: 30,
    budget_duration: '30d',
    rpm_limit: 100,
  })
  await page.getByText('0 of 1 keys').waitFor()
  await page.getByText(/each spends at most \$20 in 30 days, each ends within 30 days/).waitFor()
  expect(page.traffic.length).toBeLessThanOrEqual(6)
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'New key in Team own-a' })
  await page.keyboard.type('notebook')
  // Each ceiling stands at its field, and so does its refusal.
  await dialog.getByText('The team allows $20 for each key.').waitFor()
  await dialog.getByLabel('Spends at most').fill('21')
  await page.keyboard.press('Enter')
  await dialog.getByText(/must be at most 20 for a key of your own/).waitFor()
  await dialog.getByLabel('Spends at most').fill('5')
  await expectAccessible(page)
  await page.keyboard.press('Enter')
  const once = page.getByRole('dialog', { name: 'The key notebook' })
  await once.getByText(/^sk-/).first().waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  const body = once.locator('.dialog-body')
  expect(await body.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
  await page.setViewportSize({ width: 1440, height: 900 })
  await once.getByRole('button', { name: 'I have saved it' }).click()
  expect(await keysOf('own-a')).toMatchObject([{ key_name: 'notebook', max_budget: 5, state: 'active' }])

  // No other one may be made.
  await page.getByText('Revoke one to make another.').waitFor()
  expect(await page.getByRole('button', { name: /^New key/ }).count()).toBe(0)

  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('laptop')
  await page.keyboard.press('Enter')
  await page.getByRole('complementary', { name: 'laptop' }).waitFor()
  expect((await keysOf('own-a'))[0].key_name).toBe('laptop')
  for (const tab of await page.getByRole('tablist', { name: 'About the key' }).getByRole('tab').all()) {
    await tab.click()
    await page.waitForLoadState('networkidle')
  }
  await page.getByRole('button', { name: 'Regenerate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Regenerate' }).click()
  await page.getByRole('dialog', { name: 'The key laptop' }).getByRole('button', { name: 'I have saved it' }).click()
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('0 of 1 keys').waitFor()
  expect((await keysOf('own-a'))[0].state).toBe('revoked')
}, 60_000)

it('two tabs that race for the last key: one has it, the other is told why not', async () => {
  const team = { self_service_keys_enabled: true, self_service_max_keys_per_user: 1 }
  const page = await openIn('own-b', team, 'my-keys', { forgives: [/403: POST \/ui\/api\/keys/] })
  const other = await page.context().newPage()
  await other.goto(page.url())
  for (const tab of [page, other]) {
    await tab.getByRole('button', { name: 'New key in Team own-b' }).click()
    await tab.getByLabel('Name').fill('the last')
  }
  await Promise.all([page, other].map((tab) => tab.getByRole('button', { name: 'Create' }).click()))
  const told = /A member of this team may own 1 keys, and you own 1/
  const shown = /It is shown only now/
  const ends = await Promise.all(
    [page, other].map(async (tab) => {
      await tab
        .getByText(new RegExp(`${told.source}|${shown.source}`))
        .first()
        .waitFor()
      return (await tab.getByText(shown).count()) > 0
    }),
  )
  expect(ends.sort()).toEqual([false, true])
  expect(await keysOf('own-b')).toHaveLength(1)
}, 20_000)

it('where a team lets its members make none, the page names who can change that', async () => {
  await gateway.ask('POST', '/ui/api/users', { user_id: 'lead-of-own-c', user_email: 'lead-c@example.com' })
  const page = await openIn('own-c', {})
  await gateway.ask('POST', '/ui/api/teams/own-c/members', { user_id: 'lead-of-own-c', role: 'team_admin' })
  await page.reload()
  await page.getByText(/Ask lead-c@example.com, who can switch it on/).waitFor()
  expect(await page.getByRole('button', { name: /^New key/ }).count()).toBe(0)
})

it('whoever administers keys is sent to the page of all keys', async () => {
  const page = await gateway.open('my-keys', { as: 'platform_admin' })
  await page.getByText('You have no keys of your own').waitFor()
  expect(await page.getByRole('link', { name: 'All keys' }).getAttribute('href')).toBe('/console/keys')
})

it("the page of one's own keys is accessible, also its calls and on a phone", async () => {
  const team = { self_service_keys_enabled: true }
  await expectAccessible(await openIn('own-d', team, 'my-keys?view=calls'))
  await expectAccessible(await openIn('own-e', team, 'my-keys', { width: 390 }))
})
