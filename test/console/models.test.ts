import { expect, it } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()

it('the catalogue shows what may be called, what it costs and how it is called', async () => {
  const page = await gateway.open('models')
  const row = page.getByRole('row').filter({ hasText: 'claude-opus' })
  expect(await row.textContent()).toContain('$3.00')
  expect(await page.getByRole('row').filter({ hasText: 'echo' }).textContent()).toContain('no price')
  expect(page.traffic.length).toBeLessThanOrEqual(6)
  await page.getByRole('link', { name: 'claude-opus' }).click()
  const panel = page.getByRole('complementary')
  await panel.getByText('$15.00 per 1M tokens').waitFor()
  const code = panel.getByRole('region', { name: 'How to call claude-opus' })
  expect(await code.textContent()).toContain(`curl ${gateway.url}/v1/chat/completions`)
  await panel.getByRole('button', { name: 'Python' }).click()
  expect(await code.textContent()).toContain(`OpenAI(base_url="${gateway.url}/v1"`)
  await panel.getByLabel('Kind of request').selectOption('embedding')
  expect(await code.textContent()).toContain('client.embeddings.create(')
  await panel.getByRole('button', { name: 'curl' }).click()
  await expectAccessible(page)
})

it('the code that is shown makes the call', async () => {
  const { body: key } = await gateway.ask('POST', '/ui/api/keys', { key_name: 'of the catalogue' })
  const page = await gateway.open('models?open=echo')
  const code = await page.getByRole('region', { name: 'How to call echo' }).textContent()
  const body = /-d '([\s\S]*)'/.exec(code ?? '')?.[1] ?? ''
  const response = await fetch(/curl (\S+)/.exec(code ?? '')?.[1] ?? '', {
    method: 'POST',
    headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
    body,
  })
  expect(response.status).toBe(200)
  expect(JSON.stringify(await response.json())).toContain('Say hello.')
})

it('the filters ask the gateway: a kind of request, a part of the name, and what one key may call', async () => {
  const { body: key } = await gateway.ask('POST', '/ui/api/keys', { key_name: 'of the echo alone' })
  await gateway.ask('PUT', `/ui/api/keys/${key.key_id}/model-access`, { mode: 'restrict', models: ['echo'] })
  const page = await gateway.open('models')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByRole('menuitem', { name: 'As key' }).click()
  await page.getByRole('combobox', { name: 'As key' }).fill('of the echo')
  await page.getByRole('option', { name: /of the echo alone/ }).click()
  await page.getByText('1 in total').waitFor()
  await page.goto('/console/models?mode=rerank')
  await page.getByRole('link', { name: 'claude-opus' }).waitFor()
  expect(await page.getByRole('link', { name: 'echo', exact: true }).count()).toBe(0)
  await page.getByRole('searchbox').fill('gpt')
  await page.waitForURL(/search=gpt/)
  await page.getByText('1 in total').waitFor()
})

it('somebody whose organization leaves nothing to call is told why', async () => {
  await gateway.ask('POST', '/ui/api/organizations', { organization_id: 'closed' })
  await gateway.ask('PUT', '/ui/api/organizations/closed/model-access', { mode: 'restrict', models: [] })
  const page = await gateway.open('models', { as: { organizations: { closed: 'org_member' } } })
  await page.getByText('You may call no model').waitFor()
})

it('the catalogue is accessible, also for a team viewer, and on a phone', async () => {
  await expectAccessible(await gateway.open('models', { as: 'team_viewer' }))
  await expectAccessible(await gateway.open('models?open=claude-opus', { width: 390 }))
})
