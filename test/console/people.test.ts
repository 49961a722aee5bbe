import { expect, it } from 'vitest'
import { DEMO_SALT_KEY } from '../support/console/demo.node.ts'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'
import { signedIn } from '../support/people.ts'

const gateway = withConsole()

const somebody = (email: string, more: object = {}) =>
  signedIn({ url: gateway.url, sql: gateway.demo.sql, saltKey: DEMO_SALT_KEY }, { email, ...more })

it('people are found, and each is told with what they belong to', async () => {
  const { accountId } = await somebody('found@people.test', {
    organizations: { products: 'org_auditor' },
    teams: { search: 'team_viewer' },
  })
  const page = await gateway.open('people?search=FOUND%40people&organization_id=products')
  const row = page.getByRole('row').filter({ hasText: 'found@people.test' })
  expect(await row.textContent()).toContain('Products (auditor), Search quality (viewer)')
  expect(page.traffic.length).toBeLessThanOrEqual(6)
  await row.getByRole('link').click()
  const panel = page.getByRole('complementary')
  expect(await panel.getByLabel(/^Role of .* in Search quality/).inputValue()).toBe('team_viewer')
  expect(new URL(page.url()).searchParams.get('open')).toBe(accountId)
  await expectAccessible(page)
})

it('roles are changed, taken and given', async () => {
  const { accountId, userId } = await somebody('moves@people.test', { teams: { search: 'team_viewer' } })
  const page = await gateway.open(`people?search=moves&open=${accountId}`)
  const panel = page.getByRole('complementary')
  await panel.getByLabel(/^Role of .* in Search quality/).selectOption('team_admin')
  await page.getByText('is Admin of Search quality').waitFor()
  const members = async () => (await gateway.ask('GET', '/ui/api/teams/search/members?limit=200')).body.data
  expect(await members()).toContainEqual(expect.objectContaining({ user_id: userId, role: 'team_admin' }))

  await panel.getByRole('button', { name: 'Add' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Team').fill('evaluation')
  await dialog.getByRole('option', { name: 'Model evaluation' }).click()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Add' }).click()
  await panel.getByLabel(/^Role of .* in Model evaluation/).waitFor()

  await panel.getByRole('button', { name: 'Remove moves@people.test from Search quality' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await panel.getByLabel(/^Role of .* in Search quality/).waitFor({ state: 'detached' })
  expect((await gateway.ask('GET', `/ui/api/accounts/${accountId}`)).body.memberships).toEqual([
    { scope: 'team', id: 'eval', name: 'Model evaluation', role: 'team_developer', organization_id: 'research' },
  ])
})

it('an account gets a link to a new password, another address, is disabled, is made an administrator, and is deleted once its address is typed', async () => {
  await somebody('taken@people.test')
  const { accountId } = await somebody('leaves@people.test', { passwordHash: 'none that a password has' })
  const state = async () => (await gateway.ask('GET', `/ui/api/accounts/${accountId}`)).body
  const page = await gateway.open(`people?search=leaves&open=${accountId}`)
  const panel = page.getByRole('complementary')
  await panel.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Make a link to a new password' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Make it' }).click()
  const shown = page.getByRole('dialog', { name: 'Pass this link on' })
  const link = await shown.getByLabel('leaves@people.test', { exact: true }).inputValue()
  await expectAccessible(page)
  const token = new URL(link).hash.slice(1)
  expect(link).toBe(`${gateway.url}/console/reset#${token}`)
  expect((await gateway.ask('GET', `/auth/internal/reset-password/${token}`)).body).toMatchObject({ valid: true })
  await page.getByRole('button', { name: 'I have passed it on' }).click()

  await panel.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Change the address' }).click()
  await page.getByLabel('E-mail address').fill('taken@people.test')
  await page.keyboard.press('Enter')
  await page.getByText('Another account has this address.').waitFor()
  await page.getByLabel('E-mail address').fill('leaves-again@people.test')
  await page.keyboard.press('Enter')
  await page.getByText('The address is leaves-again@people.test now.').waitFor()
  expect(await state()).toMatchObject({ email: 'leaves-again@people.test' })

  await panel.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await panel.getByRole('button', { name: 'Enable' }).waitFor()
  expect(await state()).toMatchObject({ state: 'disabled' })

  await panel.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Make platform admin' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Make administrator' }).click()
  await panel.getByText('administrator of everything').waitFor()
  expect(await state()).toMatchObject({ platform_role: 'platform_admin' })

  await panel.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Delete the account' }).click()
  const question = page.getByRole('dialog')
  const yes = question.getByRole('button', { name: 'Delete' })
  expect(await yes.isDisabled()).toBe(true)
  await question.getByRole('textbox').fill('leaves-again@people.test')
  await yes.click()
  await page.getByText('No person matches').waitFor()
  expect((await gateway.ask('GET', `/ui/api/accounts/${accountId}`)).status).toBe(404)
})

it('many are invited at once by the keyboard, and what cannot be is said', async () => {
  const page = await gateway.open('people')
  await page.keyboard.press('i')
  await page.keyboard.type('one@people.test, two@people.test\nONE@people.test not-an-address')
  await page.keyboard.press('Tab')
  await page.keyboard.type('research')
  await page.getByRole('option', { name: 'Research' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByLabel('Role in the organization').selectOption('org_auditor')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Invite 3' }).click()
  const links = page.getByRole('dialog', { name: 'Pass these links on' })
  expect(await links.getByLabel('one@people.test', { exact: true }).inputValue()).toMatch(/\/console\/invite#./)
  await links.getByText('not-an-address:').waitFor()
  await expectAccessible(page)
  // Shown once: a key that is pressed by habit does not throw it away.
  await page.keyboard.press('Escape')
  await links.getByRole('button', { name: 'I have passed them on' }).click()
  await page.getByRole('row').filter({ hasText: 'two@people.test' }).waitFor()
  const { body } = await gateway.ask('GET', '/ui/api/invitations?search=people.test&organization_id=research')
  expect(body.data).toMatchObject([
    { email: 'two@people.test', organization_role: 'org_auditor', state: 'pending', team_id: null },
    { email: 'one@people.test', organization_role: 'org_auditor', state: 'pending', team_id: null },
  ])
})

it('a link is made anew, and an invitation is cancelled', async () => {
  await gateway.ask('POST', '/ui/api/invitations', { email: 'again@people.test', team_id: 'search' })
  const page = await gateway.open('people?tab=invitations&search=again&state=pending')
  const act = async (name: string) => {
    await page.getByRole('button', { name: 'Actions for again@people.test' }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  await act('Make a new link')
  const link = await page.getByLabel('again@people.test', { exact: true }).inputValue()
  const token = new URL(link).hash.slice(1)
  expect((await gateway.ask('GET', `/auth/invitations/${token}`)).body).toMatchObject({ valid: true })
  await page.getByRole('button', { name: 'I have passed them on' }).click()
  await act('Cancel the invitation')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the invitation' }).click()
  await page.getByText('No invitation matches').waitFor()
  expect((await gateway.ask('GET', `/auth/invitations/${token}`)).body).toMatchObject({ valid: false })
})

it('a lead invites into the own team, and sees no way to what is above', async () => {
  const page = await gateway.open('people', { as: 'team_admin' })
  await page.getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog')
  expect(await dialog.getByLabel('Organization').count()).toBe(0)
  // The id stands there until the name is read.
  await expect.poll(() => dialog.getByLabel('Team', { exact: true }).inputValue()).toBe('Search quality')
  await dialog.getByLabel('E-mail addresses').fill('of-the-lead@people.test')
  await dialog.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('button', { name: 'I have passed them on' }).click()
  expect((await gateway.ask('GET', '/ui/api/invitations?search=of-the-lead')).body.data).toMatchObject([
    { team_id: 'search', team_role: 'team_developer', organization_id: null },
  ])
})

it.each(['org_owner', 'org_admin', 'org_auditor', 'team_developer'] as const)(
  'people as a %s: what is shown may be asked for',
  async (as) => {
    const { accountId } = await somebody(`seen-by-${as}@people.test`, {
      organizations: { products: 'org_owner' },
      teams: { search: 'team_viewer', eval: 'team_viewer' },
    })
    const page = await gateway.open(`people?open=${accountId}`, { as, width: 390 })
    const panel = page.getByRole('dialog')
    await panel.getByText('Budget and limits').waitFor()
    await panel.getByText('spent, no budget').waitFor()
    const isAdmin = as === 'org_owner' || as === 'org_admin'
    expect(await panel.getByLabel(/^Role of .* in Search quality/).count()).toBe(isAdmin ? 1 : 0)
    expect(await panel.getByLabel(/^Role of .* in Products/).count()).toBe(as === 'org_owner' ? 1 : 0)
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await page.getByRole('tab', { name: 'Invitations' }).click()
    await page.waitForLoadState('networkidle')
    await expectAccessible(page)
  },
)

it('who invites in one team and only reads another is offered what may be done, and asks for nothing else', async () => {
  const invite = async (email: string, body: object) =>
    (await gateway.ask('POST', '/ui/api/invitations', { email, ...body })).body.invitation_id
  const mine = await invite('mine@two-teams.test', { team_id: 'search' })
  await invite('other@two-teams.test', { team_id: 'eval' })
  await invite('above@two-teams.test', { organization_id: 'products', team_id: 'search' })
  const as = { teams: { search: 'team_admin', eval: 'team_developer' } } as const
  const page = await gateway.open('people?tab=invitations&search=two-teams&organization_id=products', { as })
  const actions = page.getByRole('button', { name: /^Actions for/ })
  await page.getByRole('row').filter({ hasText: 'mine@two-teams.test' }).waitFor()
  expect(await page.getByRole('row').count()).toBe(3)
  expect(await actions.count()).toBe(1)
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  expect(await page.getByRole('menuitem').allTextContents()).toEqual(['State', 'Team'])
  await page.keyboard.press('Escape')
  await actions.click()
  await page.getByRole('menuitem', { name: 'Cancel the invitation' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the invitation' }).click()
  await page.getByText('The invitation of mine@two-teams.test is cancelled.').waitFor()
  const { data } = (await gateway.ask('GET', '/ui/api/invitations?search=two-teams&state=cancelled')).body
  expect(data.map((one: { invitation_id: string }) => one.invitation_id)).toEqual([mine])
  await page.keyboard.press('i')
  const dialog = page.getByRole('dialog', { name: 'Invite people' })
  const team = dialog.getByRole('combobox', { name: 'Team', exact: true })
  await expect.poll(() => team.inputValue()).toBe('Search quality')
  await team.fill('e')
  await expect.poll(() => dialog.getByRole('listbox').getByRole('option').allTextContents()).toEqual(['Search quality'])
})
