import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { expectAccessible, overflow, withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()

interface Key {
  readonly key_id: string
  readonly key: string
  readonly [field: string]: unknown
}

const made = async (key_name: string, more: object = {}): Promise<Key> =>
  (await gateway.ask('POST', '/ui/api/keys', { key_name, team_id: 'support', ...more })).body as Key
const record = async (id: string) => (await gateway.ask('GET', `/ui/api/keys/${id}`)).body
const named = async (name: string) =>
  (await gateway.ask('GET', `/ui/api/keys?search=${encodeURIComponent(name)}`)).body.data[0]

/** The status of a call with a key. */
async function call(key: string, model = 'echo'): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.text()
  return response.status
}

const shownKey = async (page: Page) =>
  (await page.getByRole('region', { name: 'The key', exact: true }).textContent())?.trim() ?? ''

it('a key is made by the keyboard alone, shown once, and calls what it may', async () => {
  const page = await gateway.open('keys')
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'New key' })
  await dialog.waitFor()
  await page.keyboard.type('made by keys')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Support')
  // Before anything is found: what is found then is taken.
  await page.keyboard.press('Enter')
  const team = dialog.getByLabel('Team', { exact: true })
  await expect.poll(() => team.inputValue()).toBe('Support assistant')
  await dialog.getByLabel('Only these models').focus()
  await page.keyboard.type('echo')
  // A name that was typed counts, also where the field is left without Enter.
  await dialog.getByLabel('Name').focus()
  await dialog.getByRole('button', { name: 'Take out echo' }).waitFor()
  await page.keyboard.press('Enter')

  const once = page.getByRole('dialog', { name: 'The key made by keys' })
  await once.waitFor()
  const key = await shownKey(page)
  expect(key).toMatch(/^sk-/)
  await once.getByText('"model": "echo"').waitFor()
  await expectAccessible(page)
  // What is shown once is closed on purpose only.
  await page.keyboard.press('Escape')
  expect(await once.isVisible()).toBe(true)
  await once.getByRole('button', { name: 'I have saved it' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('complementary', { name: 'made by keys' }).waitFor()
  expect(await page.content()).not.toContain(key)

  expect(await named('made by keys')).toMatchObject({
    team_id: 'support',
    organization_id: 'products',
    max_budget: null,
  })
  expect(await call(key)).toBe(200)
  expect(await call(key, 'gpt-5-mini')).toBe(404)
})

it('an edit sends what was changed alone, and puts a refusal at its field', async () => {
  const { key_id: id } = await made('to edit', { rpm_limit: 60, max_budget: 5, budget_duration: '30d' })
  const page = await gateway.open(`keys?open=${id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit to edit' })
  await dialog.getByLabel('Allowed addresses').fill('not an address')
  await dialog.getByLabel('Requests per minute').last().fill('7')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText(/must be an IP address/).waitFor()
  await expect.poll(() => page.evaluate('document.activeElement.dataset.field')).toBe('allowed_ips')
  await dialog.getByLabel('Allowed addresses').fill('10.0.0.0/8\n127.0.0.1')
  // What is no number is refused: it would be sent as no limit.
  const most = dialog.getByRole('spinbutton', { name: 'At most' })
  await most.fill('')
  await most.pressSequentially('5e')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('At most must be a number.').waitFor()
  await most.fill('5')
  const sent = page.waitForRequest((request) => request.method() === 'PATCH')
  await dialog.getByRole('button', { name: 'Save' }).click()
  expect((await sent).postDataJSON()).toEqual({
    version: expect.any(Number),
    rpm_limit: 7,
    allowed_ips: ['10.0.0.0/8', '127.0.0.1'],
  })
  await dialog.waitFor({ state: 'detached' })
  expect(await record(id)).toMatchObject({ rpm_limit: 7, max_budget: 5, budget_duration: '30d' })
})

it('a limit is none, nothing or a number, and the panel says what the next call meets', async () => {
  // What is counted by the minute is counted within one.
  const leftMs = 60_000 - (Date.now() % 60_000)
  if (leftMs < 20_000) await wait(leftMs)
  const key = await made('limited by the panel', { rpm_limit: 2 })
  for (const status of [200, 200, 429]) expect(await call(key.key)).toBe(status)
  const page = await gateway.open(`keys?open=${key.key_id}`)
  await page.getByText(/The next call is refused: requests per minute of this key are used up/).waitFor()
  await page.getByText('2 of 2', { exact: true }).waitFor()
  const refused = page.getByRole('complementary')
  await refused.getByText('key requests per minute exceeded').waitFor()
  await refused.getByText('one call').waitFor()
  expect(await call(key.key)).toBe(429)
  await refused.getByText('2 calls').waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  const limit = page.getByRole('group', { name: 'Requests per minute' })
  await limit.getByRole('button', { name: 'Nothing' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await record(key.key_id)).rpm_limit).toBe(0)
  await page.getByText('No call passes.').waitFor()
})

it('regenerating, revoking and deleting say whom they meet, and end the old key at once', async () => {
  const key = await made('to be ended')
  expect(await call(key.key)).toBe(200)
  await expect.poll(async () => (await record(key.key_id)).last_used_at).not.toBeNull()
  const page = await gateway.open(`keys?open=${key.key_id}`)
  await page.getByRole('button', { name: 'Regenerate' }).click()
  await page.getByText(/The old secret ends at once. It was used .*; 1 calls? in the last 24 hours/).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Regenerate' }).click()
  await page.getByRole('dialog', { name: 'The key to be ended' }).waitFor()
  const next = await shownKey(page)
  expect([await call(key.key), await call(next)]).toEqual([401, 200])
  await page.getByRole('button', { name: 'I have saved it' }).click()

  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('Revoked: every call is refused with 401.').waitFor()
  expect(await call(next)).toBe(401)
  expect((await record(key.key_id)).state).toBe('revoked')
  expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0)

  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const question = page.getByRole('dialog', { name: 'Delete to be ended?' })
  expect(await question.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
  await question.getByRole('textbox').fill('to be ended')
  await question.getByRole('button', { name: 'Delete' }).click()
  await expect.poll(async () => (await gateway.ask('GET', `/ui/api/keys/${key.key_id}`)).status).toBe(404)
})

it('what a key may call is changed in its panel, and its copy may call no more', async () => {
  const { key_id: id } = await made('of few models')
  const page = await gateway.open(`keys?open=${id}&tab=access`)
  await page.getByRole('button', { name: 'Change' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Rule').selectOption('restrict')
  await dialog.getByLabel('Models and route groups').fill('gpt')
  await dialog.getByRole('option', { name: 'gpt-5-mini', exact: true }).click()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('In effect now: 1').waitFor()
  const { body } = await gateway.ask('GET', `/ui/api/keys/${id}/model-access`)
  expect(body).toMatchObject({ mode: 'restrict', models: ['gpt-5-mini'], effective: ['gpt-5-mini'] })
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Duplicate' }).click()
  await page.getByRole('button', { name: 'Take out gpt-5-mini' }).waitFor()
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'I have saved it' }).waitFor()
  const { key_id: copy } = await named('of few models copy')
  expect((await gateway.ask('GET', `/ui/api/keys/${copy}/model-access`)).body).toEqual({
    ...body,
    version: expect.any(Number),
  })
})

it('filters and the order are the query of the list, and stay in the address', async () => {
  const page = await gateway.open('keys')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByRole('menuitem', { name: 'State' }).click()
  const asked = page.waitForRequest((request) => request.url().includes('state=revoked'))
  await page.getByRole('option', { name: 'revoked' }).click()
  await asked
  await page.getByLabel('Order').selectOption('spend')
  await page.waitForURL(/order=spend/)
  const again = page.waitForRequest((request) => request.url().includes('/ui/api/keys?'))
  await page.reload()
  const { searchParams } = new URL((await again).url())
  expect(Object.fromEntries(searchParams)).toMatchObject({ state: 'revoked', order: 'spend', limit: '100' })
})

it.each(['platform_admin', 'org_admin', 'org_auditor', 'team_admin', 'team_developer'] as const)(
  '%s reads the keys, and is offered what may be done',
  async (role) => {
    // The developer's team is another one.
    const name = role === 'team_developer' ? 'limited' : 'build-server'
    const page = await gateway.open(`keys?search=${name}`, { as: role })
    expect(page.traffic.length).toBeLessThanOrEqual(6)
    const changes = !['org_auditor', 'team_developer'].includes(role)
    expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(changes ? 1 : 0)
    // The developer's team is another one.
    if (role === 'team_developer') return
    await page.getByRole('link', { name: 'build-server' }).click()
    await page.getByText(/Nearest to its end/).waitFor()
    expect(await page.getByRole('button', { name: 'Revoke' }).count()).toBe(changes ? 1 : 0)
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click()
      await page.waitForLoadState('networkidle')
    }
  },
)

it('the page of keys is accessible with its panel and its dialog', async () => {
  const { key_id: id } = await named('build-server')
  const page = await gateway.open(`keys?open=${id}`)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('button', { name: 'Budget for a model' }).click()
  await expectAccessible(page)
}, 60_000)

it.each(['usage', 'requests', 'access', 'history'])('the tab %s of a key is accessible', async (tab) => {
  const { key_id: id } = await named('build-server')
  await expectAccessible(await gateway.open(`keys?open=${id}&tab=${tab}`))
})

it('the page of keys fits a phone', async () => {
  const { key_id: id } = await named('build-server')
  const phone = await gateway.open(`keys?open=${id}`, { width: 390 })
  await expectAccessible(phone)
  await phone.setViewportSize({ width: 320, height: 640 })
  expect(await overflow(phone)).toBe(0)
  await phone.getByRole('button', { name: 'Close' }).click()
  expect(await overflow(phone)).toBe(0)
})

it('a form of limits tells which one holds instead, and what the team may call', async () => {
  await gateway.ask('POST', '/ui/api/organizations', {
    organization_id: 'wide',
    organization_name: 'Wide',
    rpm_limit: 100,
  })
  const team = { team_id: 'narrow', team_name: 'Narrow', organization_id: 'wide', rpm_limit: 600, max_budget: 50 }
  await gateway.ask('POST', '/ui/api/teams', { ...team, budget_duration: '30d' })
  await gateway.ask('PUT', '/ui/api/teams/narrow/model-access', { models: ['echo'] })
  const page = await gateway.open('keys')
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog', { name: 'New key' })
  await dialog.getByRole('combobox', { name: 'Team', exact: true }).fill('narrow')
  await dialog.getByRole('option', { name: /Narrow/ }).click()
  await dialog.getByText('It may call echo.').waitFor()
  await dialog.getByText('Narrow may spend $50 in 30 days in all.').waitFor()
  await dialog.getByText('Wide allows 100 in all.').waitFor()
  const requests = dialog.getByRole('spinbutton', { name: 'Requests per minute' })
  await requests.fill('500')
  await dialog.getByText('Wide allows 100 in all, so 100 holds.').waitFor()
  await requests.fill('60')
  await dialog.getByText(/Wide allows/).waitFor({ state: 'detached' })
  await dialog.getByLabel('Only these models').fill('claude-opus')
  await dialog.getByRole('option', { name: 'claude-opus', exact: true }).click()
  await dialog.getByText('It may call nothing now. Its team may not call claude-opus.').waitFor()
  await expectAccessible(page)
})

it('the search over everything leads to what it finds, also those who are faster, and shows what is chosen', async () => {
  const page = await gateway.open('')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('support-widg')
  await page.keyboard.press('Enter')
  await page.getByRole('complementary', { name: 'support-widget' }).waitFor()
  await page.keyboard.press('Control+k')
  // The last of a list that is longer than its place.
  await page.keyboard.press('ArrowUp')
  const place = await page.getByRole('listbox', { name: 'Found' }).boundingBox()
  const chosen = await page.getByRole('option', { selected: true }).last().boundingBox()
  expect((chosen?.y ?? 0) + (chosen?.height ?? 0)).toBeLessThanOrEqual((place?.y ?? 0) + (place?.height ?? 0) + 1)
})
