import { expect, it } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()

it('an administrator looks at the console as somebody with a role, and changes nothing meanwhile', async () => {
  const page = await gateway.open('', { as: 'platform_admin' })
  const pages = async () => {
    const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()
    return links.map((label) => label.trim())
  }
  const all = await pages()
  const chooseRole = async (role: string, place: string, name: string) => {
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'View as a role' }).click()
    const dialog = page.getByRole('dialog', { name: 'View as a role' })
    await dialog.getByLabel('Role').selectOption(role)
    await dialog.getByLabel(place).fill(name)
    await dialog.getByRole('option', { name }).click()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'View' }).click()
  }

  await chooseRole('team_viewer', 'Team', 'Search quality')
  await page.getByText('You look as Viewer of Search quality').waitFor()
  const viewers = await gateway.open('', { as: 'team_viewer' })
  const links = viewers.getByRole('navigation', { name: 'Pages' }).getByRole('link')
  expect(await pages()).toEqual((await links.allTextContents()).map((label) => label.trim()))
  await page.go('settings')
  await page.getByText('Not for your roles').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await expect.poll(pages).toEqual(all)

  await chooseRole('org_owner', 'Organization', 'Products')
  await page.go('keys')
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('made by nobody')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('nothing can be changed').waitFor()
  expect((await gateway.ask('GET', '/ui/api/keys?search=made%20by%20nobody')).body.data).toEqual([])
})
