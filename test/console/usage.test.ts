import { expect, it } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()

const queryOf = (path: string) => new URL(path, gateway.url).searchParams

it('the table of usage, its chart and its file have one query, and their numbers are those of the report', async () => {
  const page = await gateway.open('usage?group_by=team&model=claude-opus&range=24h')
  const reports = page.traffic.filter(({ path }) => path.startsWith('/ui/api/spend/report')).map(({ path }) => path)
  const chart = queryOf(reports.find((path) => path.includes('split_by')) ?? '')
  const table = queryOf(reports.find((path) => !path.includes('split_by')) ?? '')
  const file = queryOf((await page.getByRole('link', { name: 'CSV' }).getAttribute('href')) ?? '')
  for (const name of ['model', 'from', 'to']) {
    expect(table.get(name)).toMatch(/./)
    expect([chart.get(name), file.get(name)]).toEqual([table.get(name), table.get(name)])
  }
  expect([chart.get('group_by'), chart.get('split_by'), table.get('group_by')]).toEqual(['hour', 'team', 'team'])
  const { body } = await gateway.ask('GET', `/ui/api/spend/report?${table}`)
  expect(body.data.length).toBeGreaterThan(1)
  const rows = page.getByRole('region', { name: 'Groups' }).locator('tbody tr')
  expect(await rows.locator('td:first-child').allTextContents()).toEqual(
    body.data.map(({ group, group_name }: { group: string; group_name: string | null }) => group_name ?? group),
  )
  expect(page.traffic.length).toBeLessThanOrEqual(6)
})

it('a group leads to its calls, with the filters and the range of the page', async () => {
  const page = await gateway.open('usage?group_by=key&provider=openai-compatible')
  const link = page.getByRole('link', { name: 'build-server' })
  const asked = queryOf((await link.getAttribute('href')) ?? '')
  expect(asked.get('key_id')).toMatch(/^key-/)
  expect([asked.get('provider'), asked.get('range')]).toEqual(['openai-compatible', '7d'])
})

it('the metric, the grouping, the step and the time before are chosen without a mouse, and stand in the address', async () => {
  const page = await gateway.open('usage')
  await page.getByRole('button', { name: 'Spend', exact: true }).press('Enter')
  await page.getByRole('menuitemradio', { name: 'Calls', exact: true }).press('Enter')
  await page.getByRole('img', { name: 'Calls by day of UTC and model' }).waitFor()
  await page.getByRole('button', { name: 'Hours' }).press('Enter')
  await page.getByRole('button', { name: 'Cumulative' }).press('Enter')
  await page.getByRole('img', { name: 'Calls by hour and model, added up' }).waitFor()
  await page.getByRole('button', { name: 'Compare with before' }).press('Enter')
  await page.getByRole('columnheader', { name: 'Calls before' }).waitFor()
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    metric: 'calls',
    step: 'hour',
    cumulative: '1',
    compare: '1',
  })
  // What was added up is, in the end, the number of all calls.
  const chart = page.getByRole('img', { name: /added up/ })
  await chart.focus()
  await page.keyboard.press('End')
  const [asked] = page.traffic.filter(({ path }) => path.startsWith('/ui/api/spend/summary'))
  const { calls } = (await gateway.ask('GET', asked?.path ?? '')).body.total
  const spoken = (await page.locator('.chart svg').getAttribute('aria-label')) ?? ''
  const values = [...spoken.slice(spoken.indexOf(': ') + 2).matchAll(/ (\d+)(?:,|$)/g)].map(([, value]) =>
    Number(value),
  )
  expect(values.reduce((sum, value) => sum + value, 0)).toBe(calls)
})

it('usage of a time without calls says so, and people without spend.read see their own', async () => {
  const empty = await gateway.open('usage?model=nothing-has-this-name')
  await empty.getByText('No calls in this time').waitFor()
  await empty.getByRole('button', { name: 'Clear filters' }).click()
  await empty.getByRole('link', { name: 'claude-opus' }).waitFor()
  const developer = await gateway.open('usage', { as: 'team_developer' })
  await developer.getByText(/^Your own calls/).waitFor()
  await expectAccessible(developer)
})

it('usage is accessible, also on a phone', async () => {
  await expectAccessible(await gateway.open('usage?compare=1'))
  await expectAccessible(await gateway.open('usage?metric=p95_ms&group_by=tag', { width: 390 }))
})

it('the time before is a line of the chart, and what is empty says since when', async () => {
  const page = await gateway.open('usage?metric=calls&range=1h')
  await page.route('**/ui/api/spend/report?*', async (route) => {
    const query = new URL(route.request().url()).searchParams
    const isBefore = Date.parse(query.get('to') ?? '') <= Date.now() && query.get('split_by') === null
    if (!isBefore || query.get('group_by') !== 'hour') return route.fallback()
    const answer = await (await route.fetch()).json()
    const [like] = (await gateway.ask('GET', '/ui/api/spend/report?group_by=hour')).body.data
    return route.fulfill({ json: { ...answer, data: [{ ...like, group: query.get('from'), calls: 77 }] } })
  })
  await page.getByRole('button', { name: 'Compare with before' }).click()
  await page.locator('.chart path.line').waitFor({ state: 'attached' })
  await page.getByRole('img', { name: /^Calls by hour/ }).focus()
  await page.keyboard.press('Home')
  expect(await page.locator('.chart svg').getAttribute('aria-label')).toContain('All, in the time before 77')
  const to = new Date().toISOString()
  await page.unroute('**/ui/api/spend/report?*')
  await page.route('**/ui/api/spend/report?*', (route) =>
    route.fulfill({ json: { from: to, to, group_by: 'model', split_by: null, data: [], next_cursor: null } }),
  )
  await page.go('usage?range=24h')
  await page.getByText(/^None at all since .+\.$/).waitFor()
})

it('a view is kept under a name, and leads back', async () => {
  const page = await gateway.open('usage?metric=calls&group_by=team')
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'Keep this view…' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Calls of teams')
  await page.keyboard.press('Enter')
  await page.go('usage')
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitemradio', { name: 'Calls of teams' }).click()
  await page.getByRole('img', { name: 'Calls by day of UTC and team' }).waitFor()
})
