import { expect, it } from 'vitest'
import { type ConsolePage, expectAccessible, withConsole } from '../support/console/with-console.ts'
import { answer, badKey } from '../support/upstream/index.ts'

const gateway = withConsole()
const SECRET = 'sk-canary-of-the-wizard-7319'

async function fillConnection(page: ConsolePage, model: string): Promise<void> {
  await page.getByRole('searchbox', { name: 'Search providers' }).fill('OpenAI-compatible')
  await page.getByRole('button', { name: /^OpenAI-compatible server/ }).click()
  await page.getByLabel('Address').fill(`${gateway.demo.upstream.url}/v1`)
  await page.getByLabel('API key').fill(SECRET)
  await page.getByLabel('Model', { exact: true }).fill(model)
}

it('the wizard adds a deployment without the mouse, after a test of the draft with the provider behind it', async () => {
  gateway.demo.upstream.script('wizard-model', [answer()])
  const page = await gateway.open('deployments')
  await page.keyboard.press('c')
  await page.getByRole('searchbox', { name: 'Search providers' }).waitFor()
  await page.keyboard.type('openai-comp')
  await page.keyboard.press('Enter')
  await page.getByLabel('Address').focus()
  await page.keyboard.type(`${gateway.demo.upstream.url}/v1`)
  await page.getByLabel('API key').focus()
  await page.keyboard.type(SECRET)
  await page.getByLabel('Model', { exact: true }).focus()
  await page.keyboard.type('wizard-model')
  // The last part of the provider's name is proposed as the public one.
  expect(await page.getByLabel('Public name').inputValue()).toBe('wizard-model')
  await page.getByLabel('Input, $ per 1M tokens', { exact: true }).fill('2.5')
  await page.keyboard.press('Control+Enter')
  await page.getByText(/^Answered in/).waitFor()
  expect((await gateway.ask('GET', '/ui/api/models/wizard-model-1')).status).toBe(404)
  await page.keyboard.press('Enter')
  await page.getByRole('complementary', { name: 'wizard-model-1' }).waitFor()
  expect((await gateway.ask('GET', '/ui/api/models/wizard-model-1')).body).toMatchObject({
    model_name: 'wizard-model',
    gateway_params: { model: 'openai-compatible/wizard-model', api_key: '[secret]' },
    model_info: { input_cost_per_token: 0.0000025 },
    source: 'database',
  })
  const call = await gateway.ask('POST', '/v1/chat/completions', {
    model: 'wizard-model',
    messages: [{ role: 'user', content: 'Hello' }],
  })
  expect(call.status).toBe(200)
  expect(gateway.demo.upstream.calls('wizard-model').at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`)
})

it('Enter in a field tests what was typed, asks for a price that nobody knows, and saves only what has answered', async () => {
  gateway.demo.upstream.script('unpriced-model', [badKey(), answer()])
  const page = await gateway.open('deployments?new=yes')
  await fillConnection(page, 'unpriced-model')
  const model = page.getByLabel('Model', { exact: true })
  await page.getByText('What does it cost?').waitFor()
  await model.press('Enter')
  await page.getByText('No answer').waitFor()
  await model.press('Enter')
  const answered = page.getByText(/^Answered in/)
  await answered.waitFor()
  const isSeen = async () => ((await answered.boundingBox())?.y ?? 900) < 900
  await expect.poll(isSeen).toBe(true)
  expect((await gateway.ask('GET', '/ui/api/models/unpriced-model-1')).status).toBe(404)
  // What is typed afterwards is another draft.
  await page.getByLabel('Input, $ per 1M tokens', { exact: true }).fill('2')
  await page.keyboard.press('Enter')
  await expect.poll(() => gateway.demo.upstream.calls('unpriced-model').length).toBe(3)
  await answered.waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('complementary', { name: 'unpriced-model-1' }).waitFor()
})

it("a failed test tells the provider's words and what to change, and does not keep from saving", async () => {
  gateway.demo.upstream.script('refused-model', [badKey()])
  const page = await gateway.open('deployments?new=yes')
  await fillConnection(page, 'refused-model')
  await page.getByRole('button', { name: 'Test the draft' }).click()
  await page.getByText('No answer').waitFor()
  expect(await page.getByText('401', { exact: true }).count()).toBe(1)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Save anyway' }).click()
  await page.getByRole('complementary', { name: 'refused-model-1' }).waitFor()
})

it('a refusal stands at the field that it is about', async () => {
  const page = await gateway.open('deployments?new=yes')
  await fillConnection(page, 'any')
  await page.getByLabel('Address').fill('nowhere')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const field = page.getByLabel('Address')
  await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
  await expect.poll(() => page.evaluate('document.activeElement.dataset.field')).toBe('api_base')
})

it('an edit writes what was changed alone and keeps the secret; two at once are told of each other', async () => {
  gateway.demo.upstream.script('edited', [answer()])
  await gateway.ask('POST', '/ui/api/models', {
    model_name: 'edited',
    gateway_params: { model: 'openai-compatible/edited', api_base: `${gateway.demo.upstream.url}/v1`, api_key: SECRET },
    model_info: { rpm_limit: 600, default_params: { temperature: 0 } },
  })
  const page = await gateway.open('deployments?open=edited-1')
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByLabel('Tags').fill('eu, fast')
  await page.getByLabel('Requests per minute').fill('')
  const changes = page.getByRole('region', { name: 'What changes' })
  expect(await changes.getByRole('row').filter({ hasText: 'Tags' }).textContent()).toBe('Tagsnot seteu, fast')
  await gateway.ask('PATCH', '/ui/api/models/edited-1', { model_info: { priority: 4 } })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const theirs = page.getByRole('region', { name: 'Their changes' })
  expect(await theirs.getByRole('row').filter({ hasText: 'Priority' }).textContent()).toBe('Prioritynot set4')
  await page.getByRole('button', { name: 'Save mine over it' }).click()
  await page.getByRole('complementary', { name: 'edited-1' }).waitFor()
  const { body } = await gateway.ask('GET', '/ui/api/models/edited-1')
  expect(body.model_info).toEqual({ default_params: { temperature: 0 }, tags: ['eu', 'fast'], priority: 4 })
  await gateway.ask('POST', '/v1/chat/completions', { model: 'edited', messages: [{ role: 'user', content: 'Hello' }] })
  expect(gateway.demo.upstream.calls('edited').at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`)
})

it('an entry of the file is overridden in the database, and holds again once that is deleted', async () => {
  const page = await gateway.open('deployments?open=gpt-5-mini-east')
  await page.getByRole('link', { name: 'Override in the database' }).click()
  await page.getByLabel('API key').fill(SECRET)
  await page.getByLabel('Tags').fill('overridden')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const panel = page.getByRole('complementary', { name: 'gpt-5-mini-east' })
  await panel.getByRole('button', { name: 'Delete' }).click()
  expect((await gateway.ask('GET', '/ui/api/models/gpt-5-mini-east')).body).toMatchObject({
    source: 'database',
    model_info: { tags: ['overridden'], input_cost_per_token: 0.000003 },
  })
  const question = page.getByRole('dialog')
  await question.getByRole('textbox').fill('gpt-5-mini-east')
  await question.getByRole('button', { name: 'Delete' }).click()
  await expect.poll(async () => (await gateway.ask('GET', '/ui/api/models/gpt-5-mini-east')).body.source).toBe('file')
})

it('the page of deployments reads at most six things, and is accessible with all that it opens', async () => {
  const page = await gateway.open('deployments?open=claude-opus-1', { as: 'platform_admin' })
  expect(page.traffic.length).toBeLessThanOrEqual(6)
  await expectAccessible(page)
  await expectAccessible(await gateway.open('deployments', { width: 390 }))
  const wizard = await gateway.open('deployments?new=yes', { width: 390 })
  await expectAccessible(wizard)
  await fillConnection(wizard, 'gpt-5-mini')
  await expectAccessible(wizard)
})

it('a credential is made, named by a deployment, rotated for it, and kept while it is used', async () => {
  const { upstream } = gateway.demo
  const page = await gateway.open('deployments?tab=credentials')
  await page.getByRole('button', { name: 'New credential' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('shared-key')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('Choose a provider.').waitFor()
  await dialog.getByRole('combobox', { name: 'Provider' }).fill('OpenAI-compatible')
  await page.getByRole('option', { name: /OpenAI-compatible server/ }).click()
  await dialog.getByLabel('API key').fill(SECRET)
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText(/is required for openai-compatible/).waitFor()
  await dialog.getByLabel('Address').fill(`${upstream.url}/v1`)
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Create' }).click()
  const panel = page.getByRole('complementary', { name: 'shared-key' })
  await panel.getByText('0 deployments use it').waitFor()
  expect(await page.content()).not.toContain(SECRET)

  upstream.script('by-credential', [answer(), answer(), answer()])
  const wizard = await gateway.open('deployments?new=yes')
  await wizard.getByRole('searchbox', { name: 'Search providers' }).fill('OpenAI-compatible')
  await wizard.getByRole('button', { name: /^OpenAI-compatible server/ }).click()
  await wizard.getByLabel('Credential').selectOption('shared-key')
  expect(await wizard.getByLabel('API key').count()).toBe(0)
  expect(await wizard.getByLabel('Address').count()).toBe(0)
  await wizard.getByLabel('Model', { exact: true }).fill('by-credential')
  await wizard.getByRole('button', { name: 'Test the draft' }).click()
  await wizard.getByText(/^Answered in/).waitFor()
  await expectAccessible(wizard)
  await wizard.getByRole('button', { name: 'Save', exact: true }).click()
  const made = wizard.getByRole('complementary', { name: 'by-credential-1' })
  await made.getByRole('link', { name: 'shared-key' }).click()
  const used = wizard.getByRole('complementary', { name: 'shared-key' })
  await used.getByText('One deployment uses it').waitFor()
  expect(await used.getByRole('button', { name: 'Delete' }).count()).toBe(0)
  await used.getByRole('button', { name: 'Rotate or change' }).click()
  const change = wizard.getByRole('dialog')
  await change.getByText(/One deployment follows/).waitFor()
  await change.getByRole('button', { name: 'Replace' }).click()
  await change.getByLabel('API key').fill(`${SECRET}-next`)
  await change.getByRole('button', { name: 'Save' }).click()
  await change.waitFor({ state: 'detached' })
  const call = { model: 'by-credential', messages: [{ role: 'user', content: 'Hello' }] }
  expect((await gateway.ask('POST', '/v1/chat/completions', call)).status).toBe(200)
  expect(upstream.calls('by-credential').at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}-next`)

  await gateway.ask('DELETE', '/ui/api/models/by-credential-1')
  const phone = await gateway.open('deployments?tab=credentials&open=shared-key', { width: 390 })
  await expectAccessible(phone)
  await phone.getByRole('button', { name: 'Delete' }).click()
  await phone.getByLabel(/to go on/).fill('shared-key')
  await phone.getByRole('button', { name: 'Delete' }).last().click()
  await expect.poll(async () => (await gateway.ask('GET', '/ui/api/credentials/shared-key')).status).toBe(404)
})
