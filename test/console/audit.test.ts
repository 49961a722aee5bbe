import { beforeAll, expect, it, vi } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()

beforeAll(async () => {
  await gateway.ask('POST', '/ui/api/teams', { team_id: 'audited', team_name: 'Audited', rpm_limit: 60 })
  await gateway.ask('PATCH', '/ui/api/teams/audited', { rpm_limit: 120 })
  await gateway.ask('PATCH', '/ui/api/teams/audited', { rpm_limit: -1 })
  // The queue of the audit is written within a second.
  await vi.waitUntil(
    async () => (await gateway.ask('GET', '/ui/api/audit/events?resource_id=audited')).body.data.length === 3,
    { timeout: 10_000, interval: 100 },
  )
})

it('the audit says in words what was changed, and marks what was refused', async () => {
  const page = await gateway.open('audit?resource_id=audited')
  await page.getByText('changed requests per minute 60 → 120 of team').waitFor()
  expect(await page.getByText('refused 400').count()).toBe(1)
})

it('an event of the audit is told whole, with the fields before and after', async () => {
  const page = await gateway.open('audit?resource_id=audited')
  await page.getByText('changed requests per minute 60 → 120 of team').click()
  const panel = page.getByRole('complementary')
  const change = panel.getByRole('row').filter({ hasText: 'rpm_limit' })
  expect(await change.textContent()).toBe('rpm_limit60120')
  expect(new URL(page.url()).searchParams.get('open')).toMatch(/./)
  // The address brings it back, also when the list begins after it.
  await page.reload()
  await panel.getByText('rpm_limit').first().waitFor()
  const open = new URL(page.url()).searchParams.get('open')
  await page.go(`audit?resource_id=nothing-is-like-this&open=${open}`)
  await panel.getByText('rpm_limit').first().waitFor()
  await page.go('audit?resource_id=audited&open=no-event')
  await panel.getByText('There is no such event').waitFor()
})

it('filters of the audit are those of its request and of its file', async () => {
  const page = await gateway.open('audit?action=team.update&resource_id=audited&range=24h')
  const [asked] = page.traffic.filter(({ path }) => path.startsWith('/ui/api/audit/events'))
  const query = new URL(asked?.path ?? '', gateway.url).searchParams
  expect([query.get('action'), query.get('resource_id'), query.has('to')]).toEqual(['team.update', 'audited', false])
  const file = new URL((await page.getByRole('link', { name: 'CSV' }).getAttribute('href')) ?? '', gateway.url)
  for (const name of ['action', 'resource_id', 'from']) {
    expect(file.searchParams.get(name)).toBe(query.get(name))
  }
  expect(page.traffic.length).toBeLessThanOrEqual(6)
})

it('the audit is accessible with a panel, without events, and on a phone', async () => {
  const page = await gateway.open('audit?resource_id=audited')
  await page.getByText('changed requests per minute 60 → 120 of team').click()
  await expectAccessible(page)
  await expectAccessible(await gateway.open('audit?resource_id=nothing-is-like-this', { width: 390 }))
})
