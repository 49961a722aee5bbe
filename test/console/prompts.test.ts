import { expect, it } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()

const system = (content: string) => [{ role: 'system', content }]

/** A prompt with as many versions as texts, the first of which is in production. */
async function givenPrompt(key: string, first: string, ...later: readonly string[]): Promise<void> {
  await gateway.ask('POST', '/ui/api/prompts', { key, messages: system(first), labels: ['production'] })
  for (const text of later) await gateway.ask('POST', `/ui/api/prompts/${key}/versions`, { messages: system(text) })
}

const labels = async (key: string) => (await gateway.ask('GET', `/ui/api/prompts/${key}`)).body.labels

it('the list shows what each label names, and asks the gateway for the search and the archive', async () => {
  const page = await gateway.open('prompts')
  const row = page.getByRole('row').filter({ hasText: 'support' })
  expect(await row.textContent()).toMatch(/production → 2.*staging → 3/)
  expect(await page.getByRole('link', { name: 'old-greeting' }).count()).toBe(0)
  expect(page.traffic.length).toBeLessThanOrEqual(6)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Archived' }).click()
  await page.getByRole('link', { name: 'old-greeting' }).waitFor()
  expect(await page.getByRole('link', { name: 'support', exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'All', exact: true }).click()
  await page.getByRole('searchbox').fill('before a person reads')
  await page.waitForURL(/search=before/)
  await page.getByText('1 in total').waitFor()
})

it('the panel opens what production says, and renders it as a call would', async () => {
  const page = await gateway.open('prompts')
  await page.getByRole('link', { name: 'support', exact: true }).click()
  const panel = page.getByRole('complementary')
  await panel.getByText('Never promise a refund.').waitFor()
  expect(await panel.getByLabel('Version').inputValue()).toBe('2')
  await panel.getByRole('button', { name: 'Render' }).click()
  await panel.getByText('variables.shop: is required by the prompt').waitFor()
  await panel.getByLabel('shop').fill('Knots {{language}}')
  await panel.getByLabel('language').selectOption('Deutsch')
  await panel.getByLabel('shop').press('Control+Enter')
  const rendered = panel.getByRole('region', { name: 'Rendered messages' })
  await rendered.getByText('Answer in Deutsch.').waitFor()
  expect(await rendered.textContent()).toContain('You help customers of Knots {{language}}.')
  await expectAccessible(page)
})

it('the code of a version is what a call takes', async () => {
  await givenPrompt('of-the-code', 'Say {{word}}.')
  const page = await gateway.open('prompts?open=of-the-code')
  const code = await page.getByRole('region', { name: 'How to call of-the-code' }).textContent()
  const body = { model: 'echo', messages: [{ role: 'user', content: 'Hello' }], ...JSON.parse(code ?? '') }
  expect((await gateway.ask('POST', '/v1/chat/completions', body)).status).toBe(200)
})

it('two versions are compared, line by line', async () => {
  const page = await gateway.open('prompts?open=support&tab=versions')
  const panel = page.getByRole('complementary')
  await panel.getByText('removed: Answer in {{language}}.').waitFor()
  await panel.getByLabel('From').selectOption('1')
  await panel.getByLabel('to', { exact: true }).selectOption('2')
  await panel.getByText('added: Never promise a refund.').waitFor()
  await expect.poll(() => page.traffic.at(-1)?.path).toBe('/ui/api/prompts/support/diff?from=1&to=2')
  await expectAccessible(page)
})

it('a label is made, moved after its difference was shown, rolled back and dropped', async () => {
  await givenPrompt('of-labels', 'One.', 'Two.', 'Three.')
  const page = await gateway.open('prompts?open=of-labels&tab=labels')
  const panel = page.getByRole('complementary')
  await panel.getByRole('button', { name: 'Move production' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Version').selectOption('2')
  await dialog.getByText('added: Two.').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Move' }).click()
  await panel.getByText('before that 1').waitFor()
  expect(await labels('of-labels')).toEqual({ production: 2 })

  await panel.getByRole('button', { name: 'Roll back to 1' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
  await panel.getByText('before that 2').waitFor()
  expect(await labels('of-labels')).toEqual({ production: 1 })

  await panel.getByRole('button', { name: 'New label' }).click()
  await dialog.getByLabel('Label').fill('latest')
  await dialog.getByRole('button', { name: 'Make' }).click()
  await dialog.getByText(/always the newest version/).waitFor()
  await dialog.getByLabel('Label').fill('staging')
  await dialog.getByRole('button', { name: 'Make' }).click()
  await panel.getByRole('button', { name: 'Drop staging' }).waitFor()
  expect(await labels('of-labels')).toEqual({ production: 1, staging: 3 })

  await panel.getByRole('button', { name: 'Drop production' }).click()
  await page.getByText(/then get the newest version, which is 3/).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Drop' }).click()
  await panel.getByRole('button', { name: 'Drop production' }).waitFor({ state: 'detached' })
  expect(await labels('of-labels')).toEqual({ staging: 3 })
})

it('a prompt is archived, taken out again, and deleted once its key is typed', async () => {
  await givenPrompt('of-the-archive', 'One.')
  const page = await gateway.open('prompts?open=of-the-archive')
  const panel = page.getByRole('complementary')
  const state = async () => (await gateway.ask('GET', '/ui/api/prompts/of-the-archive')).body.state
  const archive = async () => {
    await panel.getByRole('button', { name: 'Archive', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click()
    await panel.getByText('Calls that name it are refused.').waitFor()
  }
  await archive()
  expect(await state()).toBe('archived')
  await panel.getByRole('button', { name: 'Take out of the archive' }).click()
  await panel.getByRole('button', { name: 'Archive', exact: true }).waitFor()
  expect(await state()).toBe('active')
  await archive()
  await panel.getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/Type/).fill('of-the-archive')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await panel.waitFor({ state: 'detached' })
  expect((await gateway.ask('GET', '/ui/api/prompts/of-the-archive')).status).toBe(404)
})

it('a prompt that a policy names is not archived, and the panel says which group', async () => {
  await givenPrompt('of-a-policy', 'One.')
  const policy = '/ui/api/route-groups/claude-opus/policy'
  await gateway.ask('PUT', `${policy}/draft`, { prompt_ref: 'of-a-policy' })
  const published = await gateway.ask('POST', `${policy}/publish`, {})
  expect(published.status).toBe(200)
  const page = await gateway.open('prompts?open=of-a-policy')
  await page.getByRole('button', { name: 'Archive', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click()
  await page.getByText(/route groups name the prompt: 'claude-opus'/).waitFor()
  await gateway.ask('PUT', `${policy}/draft`, {})
  await gateway.ask('POST', `${policy}/publish`, {})
})

it('the panel is accessible on a phone, in each of its tabs', async () => {
  for (const tab of ['text', 'versions', 'labels']) {
    await expectAccessible(await gateway.open(`prompts?open=support&tab=${tab}`, { width: 390 }))
  }
})

it('a prompt is written: its variables are found, declared and tried before it is there', async () => {
  const page = await gateway.open('prompts')
  await page.getByRole('heading', { name: 'Prompts' }).waitFor()
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Key').fill('of the editor')
  await dialog.getByLabel('Text of message 1').fill('Answer {{ who }} in {{count}} words. \\{{plain}} {{no name}}')
  await dialog.getByText('“{{no name}}” is not a variable.').waitFor()
  await dialog.getByLabel('Text of message 1').fill('Answer {{ who }} in {{count}} words. \\{{plain}}')
  const count = dialog.getByRole('group', { name: 'Variable count' })
  await count.getByLabel('Type').selectOption('integer')
  await count.getByLabel('A call without it').selectOption('default')
  await count.getByLabel('Default, as JSON').fill('20')
  const preview = dialog.getByRole('list', { name: 'Preview' })
  await preview.getByText('Answer {{who}} in 20 words. {{plain}}').waitFor()
  await dialog.getByText('A call is refused without who.').waitFor()
  await dialog.getByLabel('who', { exact: true }).fill('Ada')
  await preview.getByText('Answer Ada in 20 words. {{plain}}').waitFor()
  await dialog.getByRole('button', { name: 'Add a message' }).click()
  await dialog.getByLabel('Text of message 2').fill('Who are you?')
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText(/must be letters, digits/).waitFor()
  await dialog.getByLabel('Key').fill('of-the-editor')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await gateway.ask('GET', '/ui/api/prompts/of-the-editor/versions/1')).body).toMatchObject({
    messages: [
      { role: 'system', content: 'Answer {{ who }} in {{count}} words. \\{{plain}}' },
      { role: 'user', content: 'Who are you?' },
    ],
    variables: { who: { type: 'string', required: true }, count: { type: 'integer', default: 20 } },
  })
  const rendered = await gateway.ask('POST', '/ui/api/prompts/of-the-editor/render', { variables: { who: 'Ada' } })
  expect(rendered.body.messages[0].content).toBe('Answer Ada in 20 words. {{plain}}')
})

it('a new version begins as the newest, keeps what it does not change, and is labelled', async () => {
  const variables = {
    word: { type: 'enum', enum: ['a', 'b, c'], default: 'a' },
    more: { type: 'array', max_length: 3 },
  }
  const content = [
    { type: 'text', text: 'Say {{word}}.' },
    { type: 'text', text: 'And {{more}}.' },
  ]
  const messages = [{ role: 'developer', content }]
  await gateway.ask('POST', '/ui/api/prompts', { key: 'of-versions', messages, variables })
  const page = await gateway.open('prompts?open=of-versions')
  await page.getByRole('button', { name: 'New version' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Message 1, part 2').fill('And then {{more}}.')
  await dialog.getByLabel('Note').fill('Then')
  await dialog.getByLabel('Labels').fill('prod')
  await dialog.getByRole('option', { name: 'production' }).click()
  await dialog.getByRole('button', { name: 'Add version' }).click()
  await page.getByText('added: And then {{more}}.').waitFor()
  expect(await labels('of-versions')).toEqual({ production: 2 })
  expect((await gateway.ask('GET', '/ui/api/prompts/of-versions/versions/2')).body).toMatchObject({
    note: 'Then',
    messages: [{ role: 'developer', content: [content[0], { type: 'text', text: 'And then {{more}}.' }] }],
    variables,
  })
})

it('what was written is not thrown away unasked', async () => {
  const page = await gateway.open('prompts?open=support', { width: 390 })
  await page.getByRole('button', { name: 'New version' }).click()
  const editor = page.getByRole('dialog', { name: 'New version of support' })
  await editor.getByLabel('Text of message 1').fill('Something else.')
  await editor.getByText('no message names it').first().waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay' }).click()
  expect(await editor.getByLabel('Text of message 1').inputValue()).toBe('Something else.')
})
