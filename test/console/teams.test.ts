import { describe, expect, it } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()

describe('teams', () => {
  it('are listed, made, changed and deleted', async () => {
    const page = await gateway.open('teams')
    await page.getByRole('link', { name: 'Search quality' }).waitFor()
    expect(page.traffic.length).toBeLessThanOrEqual(6)

    await page.getByRole('button', { name: 'New team' }).click()
    const dialog = page.getByRole('dialog', { name: 'New team' })
    await dialog.getByLabel('Name', { exact: true }).fill('Made by a test')
    const requests = dialog.getByRole('group', { name: 'Requests per minute' })
    await requests.getByRole('button', { name: 'Nothing' }).click()
    for (const name of ['Requests per hour', 'Tokens per day']) {
      await dialog.getByRole('spinbutton', { name }).fill('5000')
    }
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Made by a test is created.').waitFor()
    const { data } = (await gateway.ask('GET', '/ui/api/teams?search=Made+by+a+test')).body
    expect(data).toMatchObject([
      { team_name: 'Made by a test', rpm_limit: 0, tpm_limit: null, rph_limit: 5000, tpd_limit: 5000 },
    ])
    const { team_id } = data[0]
    expect(new URL(page.url()).searchParams.get('open')).toBe(team_id)

    await page.getByRole('complementary').getByRole('button', { name: 'Edit' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit Made by a test' })
    await edit.getByRole('group', { name: 'Requests per minute' }).getByRole('button', { name: 'No limit' }).click()
    await edit.getByRole('button', { name: 'Save' }).click()
    await edit.waitFor({ state: 'detached' })
    expect((await gateway.ask('GET', `/ui/api/teams/${team_id}`)).body).toMatchObject({ rpm_limit: null })

    await page.getByRole('complementary').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog', { name: 'Delete Made by a test?' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Made by a test is deleted.').waitFor()
    expect((await gateway.ask('GET', `/ui/api/teams/${team_id}`)).status).toBe(404)
  })

  it('can be used in both themes, on a phone, with a panel and with a dialog', async () => {
    const wide = await gateway.open('teams?open=search')
    await expectAccessible(wide)
    const narrow = await gateway.open('teams', { width: 390 })
    await expectAccessible(narrow)
    await narrow.getByRole('button', { name: 'New team' }).click()
    await expectAccessible(narrow)
  })

  it('are walked, opened and left by keys', async () => {
    const page = await gateway.open('teams')
    await page.locator('tbody tr').first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('complementary').waitFor()
    const first = new URL(page.url()).searchParams.get('open')
    await page.keyboard.press('j')
    await expect.poll(() => new URL(page.url()).searchParams.get('open')).not.toBe(first)
    // A key that comes while one panel takes the place of the other is nobody's.
    await expect
      .poll(async () => {
        await page.keyboard.press('Escape')
        return page.getByRole('complementary').count()
      })
      .toBe(0)
    await page.keyboard.press('f')
    await page.getByRole('menuitem', { name: 'Organization' }).waitFor()
    const filtered = await gateway.open('teams?organization_id=research')
    await filtered.keyboard.press('Backspace')
    await expect.poll(() => new URL(filtered.url()).searchParams.get('organization_id')).toBeNull()
  })
})

it('a list that the scope over the menu leaves empty says so, and leads out of it', async () => {
  await gateway.ask('POST', '/ui/api/organizations', { organization_id: 'bare', organization_name: 'Bare' })
  const page = await gateway.open('teams', { as: { organizations: { bare: 'org_owner', products: 'org_owner' } } })
  await page.evaluate(`localStorage.setItem('scope', '{"organization_id":"bare"}')`)
  await page.reload()
  await page.getByText('No team matches').waitFor()
  expect(await page.getByRole('button', { name: 'Clear filters' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Look everywhere' }).click()
  await page.getByRole('link', { name: 'search' }).first().waitFor()
})

it('the address of a team as a part of the path opens it beside the list', async () => {
  const page = await gateway.open('teams/search?tab=members')
  await page.getByRole('complementary').waitFor()
  const { pathname, search } = new URL(page.url())
  expect(pathname + search).toBe('/console/teams?tab=members&open=search')
})
