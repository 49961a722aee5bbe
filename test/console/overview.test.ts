import { expect, it, vi } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()

const sums = async (query = '') => (await gateway.ask('GET', `/ui/api/spend/summary${query}`)).body.total

it('the overview tells the sums of the gateway, and leads to the calls that failed', async () => {
  const page = await gateway.open('')
  const tiles = page.locator('.tile')
  const asked = page.traffic.find(({ path }) => path.startsWith('/ui/api/spend/summary'))?.path ?? ''
  const { calls, failed_calls: failed } = await sums(asked.slice(asked.indexOf('?')))
  expect(calls).toBeGreaterThan(20)
  await expect.poll(() => tiles.nth(1).locator('.value').textContent()).toBe(String(calls))
  expect(await tiles.nth(2).textContent()).toContain(`${failed} of ${calls} calls`)
  expect(await page.getByRole('link', { name: 'Failed' }).getAttribute('href')).toBe('/console/requests?ending=failed')
  // The models with their calls add up to all of them.
  const rows = page.getByRole('region', { name: 'Models' }).getByRole('row')
  const numbers = (await rows.locator('td:nth-child(4)').allTextContents()).map((text) => Number(text.replace(',', '')))
  expect(numbers.reduce((sum, one) => sum + one, 0)).toBe(calls)
  expect(page.traffic.length).toBeLessThanOrEqual(6)
})

it('the overview names what asks for attention: a drained deployment, a budget and a key that end', async () => {
  const { body } = await gateway.ask('POST', '/ui/api/keys', { key_name: 'spent-up', team_id: 'eval' })
  await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${body.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  // A call may not begin without what it can cost: the budget comes afterwards.
  const key = `/ui/api/keys/${body.key_id}`
  await vi.waitUntil(async () => (await gateway.ask('GET', key)).body.spend > 0, { timeout: 10_000, interval: 200 })
  expect((await gateway.ask('PATCH', key, { max_budget: 1e-6 })).status).toBe(200)
  await gateway.ask('POST', '/ui/api/models/llama-70b/drain')
  try {
    const page = await gateway.open('')
    await page.route('**/health/deployments', async (route) => {
      const answer = await route.fetch()
      const sink = { name: 'otel', last_error: 'it answered 401', last_error_at: new Date().toISOString(), queued: 3 }
      await route.fulfill({
        response: answer,
        json: { ...(await answer.json()), failing_sinks: [sink], dead_letters: 2 },
      })
    })
    await page.reload()
    const attention = page.getByRole('region', { name: 'What asks for attention' })
    const sink = attention.getByRole('row').filter({ hasText: 'takes no events' })
    expect(await sink.getByRole('link', { name: 'otel' }).getAttribute('href')).toBe('/console/settings?tab=sinks')
    const letters = attention.getByRole('row').filter({ hasText: 'refused by the database' })
    expect(await letters.getByRole('link', { name: '2 records' }).getAttribute('href')).toBe(
      '/console/settings?tab=instance',
    )
    const drained = attention.getByRole('row').filter({ hasText: 'llama-70b' })
    expect(await drained.textContent()).toContain('drained')
    expect(await drained.getByRole('link').getAttribute('href')).toContain('/console/health?model=accounts')
    const spent = attention.getByRole('row').filter({ hasText: 'spent-up' })
    expect(await spent.textContent()).toContain('budget is used up')
    expect(await spent.getByRole('link').getAttribute('href')).toBe(`/console/keys?open=${body.key_id}`)
    expect(await attention.getByRole('row').filter({ hasText: 'support-widget' }).textContent()).toContain(
      'key ends in',
    )
    await drained.getByRole('link').click()
    await page.getByRole('heading', { name: 'Health', level: 1 }).waitFor()
    const owners = await gateway.open('', { as: { organizations: { products: 'org_owner', research: 'org_owner' } } })
    await owners.getByText('spent-up').waitFor()
    await owners.evaluate(`localStorage.setItem('scope', '{"organization_id":"products"}')`)
    await owners.reload()
    await owners.settled()
    expect(await owners.getByText('spent-up').count()).toBe(0)
  } finally {
    await gateway.ask('POST', '/ui/api/models/llama-70b/resume')
  }
})

it('a range that is dragged over a chart, or chosen with the arrows, becomes the range of the page', async () => {
  const page = await gateway.open('')
  await page.getByRole('img', { name: /^Calls by hour/ }).focus()
  for (const key of ['End', 'Shift+ArrowLeft', 'Shift+ArrowLeft', 'Enter']) await page.keyboard.press(key)
  const { searchParams } = new URL(page.url())
  const hours = (Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')) / 3_600_000
  expect(hours).toBe(3)
})

it('a part of the overview that cannot be read says so, and the others are shown', async () => {
  const page = await gateway.open('health', { forgives: [/answered 503/] })
  await page.route('**/ui/api/spend/report*', (route) =>
    route.fulfill({ status: 503, json: { error: { message: 'The sums are away.', code: 'database_unavailable' } } }),
  )
  await page.getByRole('link', { name: 'Overview' }).first().click()
  await page.getByText('The sums are away.').waitFor({ timeout: 15_000 })
  expect(await page.locator('.tile').count()).toBe(4)
})

it.each(['org_billing', 'team_admin', 'team_viewer', 'nobody_yet'] as const)(
  'the overview asks for nothing that %s may not read',
  async (role) => {
    const page = await gateway.open('', { as: role })
    await page.getByRole('heading', { name: 'Attention' }).waitFor()
    expect(page.traffic.length).toBeLessThanOrEqual(6)
  },
)

it('a developer sees their own keys and failures, and how to call', async () => {
  const page = await gateway.open('', { as: 'team_developer' })
  for (const name of ['My keys', 'My last failures', /^How to call|^No calls yet/]) {
    expect(await page.getByRole('heading', { name }).count()).toBe(1)
  }
  expect(page.traffic.length).toBeLessThanOrEqual(6)
  await expectAccessible(page)
})

it('the overview is accessible, also on a phone', async () => {
  await expectAccessible(await gateway.open(''))
  await expectAccessible(await gateway.open('', { width: 390 }))
})

it('the overview tells notes of the configuration, and how much is left out where a list is cut', async () => {
  const page = await gateway.open('health')
  await page.route('**/health/deployments', async (route) => {
    const answer = await (await route.fetch()).json()
    const [like] = answer.deployments
    const drained = Array.from({ length: 30 }, (_, at) => ({ ...like, deployment_id: `cut-${at}`, state: 'drained' }))
    const notes = [{ path: 'gateway_settings.fallbacks[0].a[0]', message: "names 'b', which there is not yet" }]
    return route.fulfill({ json: { ...answer, deployments: drained, notes } })
  })
  await page.go('')
  const attention = page.getByRole('region', { name: 'What asks for attention' })
  await attention.getByText("names 'b', which there is not yet").waitFor()
  expect(await attention.getByRole('row').filter({ hasText: 'cut-' }).count()).toBe(20)
  const more = page.getByRole('link', { name: '10 more deployments' })
  expect(await more.getAttribute('href')).toBe('/console/health')
})
