import { expect, it } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()

it('a setting is found, with where its value is from, and no secret is shown', async () => {
  const page = await gateway.open('settings')
  await page.getByRole('searchbox', { name: 'Find a setting' }).fill('master_key')
  const row = page.getByRole('row').filter({ hasText: 'GATEWAY_MASTER_KEY' })
  await row.waitFor()
  expect(await row.textContent()).toContain('set')
  expect(await page.content()).not.toContain('sk-demo-master')
  await row.click()
  await page.getByRole('complementary').getByText('A secret: it is never shown.').waitFor()
})

it('a file is checked: its mistakes with their lines, or what it would change', async () => {
  const page = await gateway.open('settings?tab=check', { forgives: [/answered 500/] })
  const file = page.getByRole('textbox', { name: 'gateway.yaml' })
  await file.fill('router_settings:\n  num_retries: many\n')
  await page.getByRole('button', { name: 'Check' }).click()
  const mistake = page.getByRole('row').filter({ hasText: 'router_settings.num_retries' })
  await mistake.waitFor()
  expect(await mistake.getByRole('cell').first().textContent()).toBe('2')
  await file.fill('router_settings: { num_retries: 3 }\nmodel_list: []\n')
  await page.getByRole('button', { name: 'Check' }).click()
  const change = page.getByRole('row').filter({ hasText: 'router_settings.num_retries' })
  await page.getByText('A gateway would start with it').waitFor()
  expect((await change.getByRole('cell').allTextContents()).slice(1)).toEqual(['changed', '1', '3'])
  expect(
    (await gateway.ask('GET', '/ui/api/config')).body.data.find(
      ({ key }: { key: string }) => key === 'router_settings.num_retries',
    ).value,
  ).toBe(1)
  // A check that fails leaves nothing of the one before.
  await page.route('**/ui/api/config/check', (route) => route.fulfill({ status: 500, json: {} }))
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByRole('alert').getByText('The gateway answered 500.').waitFor()
  expect(await page.getByText('A gateway would start with it').count()).toBe(0)
})

it('the installation says how its stores are', async () => {
  const page = await gateway.open('settings?tab=instance')
  await page
    .getByText(/answers in/)
    .first()
    .waitFor()
  expect(page.traffic.length).toBeLessThanOrEqual(6)
})

it('records that the database refused are shown with the reason, and written when it takes them', async () => {
  const event = { occurred_at: new Date().toISOString(), action: 'team.update', event_id: 'once-refused' }
  const kept = `INSERT INTO gateway_dead_letter (letter_id, topic, body, error)
    VALUES ('letter_' || repeat('0', 32), 'nothing', $1, 'a constraint of ours')`
  await gateway.demo.sql.query({ sql: kept, parameters: [JSON.stringify(event)] })
  const page = await gateway.open('settings?tab=instance')
  const letter = page.getByRole('region', { name: 'Dead letters' }).getByRole('row').last()
  expect(await letter.textContent()).toContain('a constraint of ours')
  expect((await gateway.ask('GET', '/health/deployments')).body.dead_letters).toBe(1)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Write them again' }).click()
  await page.getByText('0 written, 1 refused again').waitFor()
  await gateway.ask('DELETE', '/ui/api/dead-letters?died_before=2100-01-01T00:00:00Z')
  await letter.waitFor({ state: 'detached', timeout: 15_000 })
})

it('the settings are accessible, each part, and on a phone', async () => {
  const page = await gateway.open('settings?open=router_settings.timeout')
  await expectAccessible(page)
  for (const part of ['E-mail', 'Sinks', 'Installation', 'Check a file']) {
    await page.getByRole('tab', { name: part }).click()
    await page.waitForLoadState('networkidle')
    await expectAccessible(page)
  }
  await expectAccessible(await gateway.open('settings', { width: 390 }))
}, 60_000)
