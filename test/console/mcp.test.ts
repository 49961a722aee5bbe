import { expect, inject, it } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()
const address = `${inject('mcpServerUrl')}/mcp/console`

it('a server is added by its address: checked, named, asked, and one of its tools called', async () => {
  const page = await gateway.open('mcp')
  await page.getByRole('button', { name: 'Add a server' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address', { exact: true }).fill(address)
  await dialog.getByLabel('The address may be in a private network').check()
  await dialog.getByRole('button', { name: 'Check the address' }).click()
  await dialog.getByText('Does echo.').first().waitFor()
  expect((await gateway.ask('GET', '/ui/api/mcp-servers/console-tools')).status).toBe(404)
  await dialog.getByLabel('Name', { exact: true }).fill('console-tools')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  const panel = page.getByRole('complementary')
  await panel.getByRole('button', { name: 'Ask the server' }).click()
  await panel.getByText('Does echo.').first().click()
  await panel.getByRole('button', { name: 'Call it' }).first().click()
  await dialog.getByLabel('Arguments').fill('{"message":"by hand"}')
  await dialog.getByRole('button', { name: 'Call', exact: true }).click()
  await dialog.getByText('echo: by hand').waitFor()
  expect((await gateway.ask('GET', '/ui/api/mcp-servers/console-tools')).body).toMatchObject({ base_url: address })
})

it('what is wrong with a server is said in words', async () => {
  const page = await gateway.open('mcp')
  await page.getByRole('button', { name: 'Add a server' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address', { exact: true }).fill(`${gateway.url}/health/liveliness`)
  await dialog.getByLabel('The address may be in a private network').check()
  await dialog.getByRole('button', { name: 'Check the address' }).click()
  await dialog.getByText(/It does not speak MCP|It cannot be reached|It refuses/).waitFor()
})

it('servers of tools are accessible, with a panel and with the dialog', async () => {
  await gateway.ask('POST', '/ui/api/mcp-servers', {
    server_key: 'seen',
    base_url: address,
    allow_private: true,
  })
  const page = await gateway.open('mcp?open=seen')
  await page.getByRole('button', { name: 'Ask the server' }).click()
  await page.getByText('Does echo.').first().click()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Edit' }).click()
  await expectAccessible(page)
}, 30_000)

it('a server is bound to a team and taken from it, and tells how often clients called it', async () => {
  await gateway.ask('POST', '/ui/api/mcp-servers', { server_key: 'bound', base_url: address, allow_private: true })
  const page = await gateway.open('mcp?open=bound')
  const panel = page.getByRole('complementary', { name: 'bound' })
  await panel.getByText(/^It is bound to no one/).waitFor()
  expect(await panel.getByRole('link', { name: 'none' }).getAttribute('href')).toBe(
    '/console/requests?provider=mcp&deployment=bound&range=7d',
  )
  await panel.getByRole('button', { name: 'Bind', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Bind bound' })
  await dialog.getByLabel('Team', { exact: true }).fill('Search')
  await page.getByRole('option').filter({ hasText: 'Search quality' }).click()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Bind', exact: true }).click()
  await panel.getByRole('link', { name: 'Search quality' }).waitFor()
  const bindings = async () =>
    (await gateway.ask('GET', '/ui/api/callable-target-bindings?callable_kind=mcp_server&callable_key=bound')).body.data
  expect(await bindings()).toMatchObject([{ scope_type: 'team', scope_id: 'search', enabled: true }])
  await panel.getByRole('button', { name: 'Take it from Search quality' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Take away' }).click()
  await panel.getByText(/^It is bound to no one/).waitFor()
  expect(await bindings()).toEqual([])
})
