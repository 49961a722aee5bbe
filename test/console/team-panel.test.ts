import { expect, it } from 'vitest'
import { DEMO_SALT_KEY } from '../support/console/demo.node.ts'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'
import { signedIn } from '../support/people.ts'

const gateway = withConsole()

const somebody = (email: string, more: object = {}) =>
  signedIn({ url: gateway.url, sql: gateway.demo.sql, saltKey: DEMO_SALT_KEY }, { email, ...more })
const team = (team_id: string, more: object = {}) =>
  gateway.ask('POST', '/ui/api/teams', {
    team_id,
    team_name: `The team ${team_id}`,
    organization_id: 'products',
    ...more,
  })

it('a team is made by the keyboard alone', async () => {
  const page = await gateway.open('teams')
  expect(page.traffic.length).toBeLessThanOrEqual(6)
  await page.locator('tbody tr').first().waitFor()
  await page.keyboard.press('c')
  await page.getByRole('dialog', { name: 'New team' }).waitFor()
  await page.keyboard.type('Made by keys')
  await page.keyboard.press('Enter')
  await page.getByText('Made by keys is created.').waitFor()
  const { body } = await gateway.ask('GET', '/ui/api/teams?search=made+by+keys')
  expect(body.data).toMatchObject([{ team_name: 'Made by keys', rpm_limit: null, organization_id: null }])
})

it('members of a team are added by their address, get another role, and leave', async () => {
  await team('tabs')
  const { userId } = await somebody('joins@teams.test')
  const page = await gateway.open('teams?open=tabs&tab=members')
  const panel = page.getByRole('complementary')
  await panel.getByText('Nobody yet.').waitFor()
  await panel.getByRole('button', { name: 'Add' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Person').fill('joins@')
  await dialog.getByRole('option', { name: 'joins@teams.test' }).click()
  await dialog.getByLabel('Role').selectOption('team_viewer')
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Add' }).click()
  const role = panel.getByLabel('Role of joins@teams.test in The team tabs')
  await role.selectOption('team_admin')
  const members = async () => (await gateway.ask('GET', '/ui/api/teams/tabs/members')).body.data
  await expect.poll(members).toMatchObject([{ user_id: userId, role: 'team_admin' }])
  await panel.getByRole('button', { name: 'Remove joins@teams.test from The team tabs' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await panel.getByText('Nobody yet.').waitFor()
  expect(await members()).toEqual([])
})

it('what a team may call, and which keys its members may make, are set in its panel', async () => {
  await team('ruled')
  const page = await gateway.open('teams?open=ruled&tab=models')
  const panel = page.getByRole('complementary')
  await panel.getByText('everything that its organization may call').waitFor()
  await panel.getByRole('button', { name: 'Change' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Rule').selectOption('restrict')
  await dialog.getByLabel('Models and route groups').fill('echo')
  await dialog.getByRole('option', { name: 'echo', exact: true }).first().click()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await panel.getByText('In effect now: 1').waitFor()
  expect((await gateway.ask('GET', '/ui/api/teams/ruled/model-access')).body).toMatchObject({
    mode: 'restrict',
    models: ['echo'],
    effective: ['echo'],
  })

  await panel.getByRole('tab', { name: 'Own keys' }).click()
  await panel.getByText('Off:').waitFor()
  await panel.getByRole('button', { name: 'Change' }).click()
  await dialog.getByLabel('Members may make keys of their own').check()
  await dialog.getByLabel('For each member, at most').fill('2')
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await panel.getByText('at most 2 keys').waitFor()
  expect((await gateway.ask('GET', '/ui/api/teams/ruled')).body).toMatchObject({
    self_service_keys_enabled: true,
    self_service_max_keys_per_user: 2,
    self_service_budget_ceiling: null,
  })
})

it('what somebody else has changed while a form was open is not lost unseen', async () => {
  await team('shared', { rpm_limit: 1 })
  const page = await gateway.open('teams?open=shared&tab=models')
  const panel = page.getByRole('complementary')
  const dialog = page.getByRole('dialog')
  const meanwhile = dialog.getByText('Somebody else has changed this meanwhile.')
  const save = dialog.getByRole('button', { name: 'Save' })
  await panel.getByRole('button', { name: 'Change' }).click()
  await dialog.getByLabel('Rule').selectOption('restrict')
  const access = '/ui/api/teams/shared/model-access'
  await gateway.ask('PUT', access, { models: ['echo'] })
  await save.click()
  await meanwhile.waitFor()
  expect((await gateway.ask('GET', access)).body).toMatchObject({ mode: null, models: ['echo'] })
  await save.click()
  await panel.getByText('In effect now: 0').waitFor()
  expect((await gateway.ask('GET', access)).body).toMatchObject({ mode: 'restrict', models: [] })

  await panel.getByRole('button', { name: 'Edit' }).click()
  await dialog.getByLabel('Name').fill('Ours')
  await gateway.ask('PATCH', '/ui/api/teams/shared', { team_name: 'Theirs', rpm_limit: 7 })
  await save.click()
  await meanwhile.waitFor()
  await save.click()
  await dialog.waitFor({ state: 'detached' })
  expect((await gateway.ask('GET', '/ui/api/teams/shared')).body).toMatchObject({ team_name: 'Ours', rpm_limit: 7 })
})

it('a team that has keys is kept, and the page says why', async () => {
  await team('kept')
  await gateway.ask('POST', '/ui/api/keys', { key_name: 'keeps it', team_id: 'kept' })
  const page = await gateway.open('teams?open=kept')
  await page.getByRole('complementary').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page
    .getByText(/still|keys/)
    .last()
    .waitFor()
  expect((await gateway.ask('GET', '/ui/api/teams/kept')).status).toBe(200)
})

it.each(['org_billing', 'team_admin', 'team_viewer'] as const)(
  'each tab of a team as a %s, on a phone: what is shown may be asked for',
  async (as) => {
    const page = await gateway.open('teams?open=search', { as, width: 390 })
    const panel = page.getByRole('dialog')
    await panel.getByRole('tab').first().waitFor()
    const names = await panel.getByRole('tab').allTextContents()
    expect(names.includes('Keys')).toBe(as !== 'team_viewer')
    for (const name of names) {
      await panel.getByRole('tab', { name, exact: true }).click()
      await page.waitForLoadState('networkidle')
    }
    await expectAccessible(page)
    expect(await panel.getByRole('button', { name: 'Edit' }).count()).toBe(as === 'team_admin' ? 1 : 0)
  },
)

it('what a team spent and what was done to it are told in its panel, whose parts are opened by their numbers', async () => {
  await gateway.ask('PATCH', '/ui/api/teams/search', { soft_budget: 77 })
  const page = await gateway.open('teams?open=search')
  // Of more keys than are listed.
  await page.route(/report\?.*group_by=key/, async (route) => {
    const answer = await (await route.fetch()).json()
    await route.fulfill({ json: { ...answer, data: answer.data.slice(0, 1) } })
  })
  const panel = page.getByRole('complementary')
  await panel.getByRole('tab', { name: 'Spend' }).waitFor()
  expect(await panel.getByRole('tab').allTextContents()).toEqual([
    'Overview',
    'Members',
    'Keys',
    'Models',
    'Own keys',
    'Spend',
    'Audit',
  ])
  await page.keyboard.press('6')
  const sums = panel.getByRole('region', { name: 'Spend by key' })
  await sums.getByRole('row').nth(1).waitFor()
  const { data } = (await gateway.ask('GET', '/ui/api/spend/report?group_by=key&team_id=search&limit=20')).body
  const [first] = data
  expect(await sums.getByRole('link').allTextContents()).toEqual([first.group_name ?? first.group])
  const whole = data.reduce((sum: number, { spend }: { spend: number }) => sum + spend, 0)
  const share = String(Math.round((1000 * first.spend) / whole) / 10)
  expect(await sums.getByRole('cell').nth(2).textContent()).toBe(`${share} %`)
  await expectAccessible(page)
  await page.keyboard.press('7')
  await panel.getByText(/^changed soft budget .* → 77 of team$/).waitFor()
  await expectAccessible(page)
  expect(new URL(page.url()).searchParams.get('tab')).toBe('audit')
  // An event is found in the audit, however old it is.
  await panel.getByRole('link', { name: /^changed soft budget .* → 77 of team$/ }).click()
  await page.getByRole('complementary').getByText('soft_budget').waitFor()
  const { searchParams } = new URL(page.url())
  expect(Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')).toBe(20 * 60_000)
})
