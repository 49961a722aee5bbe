import { expect, it, vi } from 'vitest'
import { expectAccessible, withConsole } from '../support/console/with-console.ts'
import { badRequest } from '../support/upstream/index.ts'

const gateway = withConsole()

const line = (custom_id: string, model: string) =>
  JSON.stringify({
    custom_id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model, messages: [{ role: 'user', content: 'Hi' }] },
  })

/** A batch of these lines, once it has ended. */
async function batchOf(...lines: readonly string[]): Promise<string> {
  const { body: made } = await gateway.ask('POST', '/ui/api/keys', { key_name: 'Night jobs' })
  const headers = { authorization: `Bearer ${made.key}` }
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new File([lines.join('\n')], 'requests.jsonl'))
  const file = await (await fetch(`${gateway.url}/v1/files`, { method: 'POST', headers, body: form })).json()
  const response = await fetch(`${gateway.url}/v1/batches`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    }),
  })
  const { id } = await response.json()
  await vi.waitUntil(async () => (await gateway.ask('GET', `/ui/api/batches/${id}`)).body.ended_at !== null, {
    timeout: 20_000,
    interval: 200,
  })
  return id
}

it('a batch tells what became of each request, and its failed ones run again', async () => {
  await gateway.demo.upstream.script('llama-70b', [badRequest()])
  const refused = 'accounts/fireworks/models/llama-v3p3-70b-instruct'
  const id = await batchOf(line('good', 'echo'), line('bad', refused))
  const page = await gateway.open('batches')
  await page.getByRole('link', { name: id }).click()
  const panel = page.getByRole('complementary')
  await panel.getByText('2 of 2, 1 failed').waitFor()
  await panel.getByRole('button', { name: 'Failed', exact: true }).click()
  await panel.getByRole('row').filter({ hasText: 'good' }).waitFor({ state: 'detached' })
  await panel.getByRole('row').filter({ hasText: 'bad' }).waitFor()
  expect(await panel.getByRole('link', { name: 'Answers' }).getAttribute('href')).toBe(
    `/ui/api/batches/${id}/files/output`,
  )
  await expectAccessible(page)
  await panel.getByRole('button', { name: 'Run the failed again' }).click()
  await page.getByText('A new batch runs the failed requests.').waitFor()
  const { data } = (await gateway.ask('GET', '/ui/api/batches')).body
  expect(data.filter(({ retry_of }: { retry_of: string }) => retry_of === id)).toHaveLength(1)
}, 60_000)

it('mistakes in a file are told with their line and field', async () => {
  const id = await batchOf(line('fine', 'echo'), '{"custom_id":"x","method":"GET"}')
  const page = await gateway.open(`batches?open=${id}`)
  const mistake = page
    .getByRole('complementary')
    .getByRole('table', { name: 'Mistakes' })
    .or(page.getByRole('region', { name: 'Mistakes' }))
  await mistake.first().waitFor()
  expect(await mistake.first().textContent()).toContain('2')
}, 60_000)

it('batches fit a phone, and read at most six things', async () => {
  const page = await gateway.open('batches', { width: 390 })
  expect(page.traffic.length).toBeLessThanOrEqual(6)
  await expectAccessible(page)
}, 30_000)

it('a batch is begun from a file, whose first mistake is told before it is sent', async () => {
  await gateway.ask('POST', '/ui/api/keys', { key_name: 'Uploads' })
  const page = await gateway.open('batches')
  await page.getByRole('button', { name: 'New batch' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Upload and run' }).click()
  await dialog.getByText('Choose a file.').waitFor()
  const choose = (text: string) =>
    dialog.getByLabel('File of requests').setInputFiles({
      name: 'requests.jsonl',
      mimeType: 'application/jsonl',
      buffer: Buffer.from(text),
    })
  const model = 'claude-opus'
  const wrong: readonly [string, string][] = [
    ['', 'line 1: There is no request in the file.'],
    [`${line('a', model)}\n\n{"custom_id": "b"`, 'line 3: It is not valid JSON'],
    [`${line('a', model)}\n${line('a', model)}`, 'line 2: A line before has the custom_id a too.'],
    [line('a', ''), 'line 1: Its body has no model.'],
    [
      line('a', model)
        .replace('/v1/chat/completions', '/v1/embeddings')
        .concat(`\n${line('b', model)}`),
      'line 2: Its url is /v1/chat/completions',
    ],
  ]
  for (const [text, told] of wrong) {
    await choose(text)
    await dialog.getByText(`requests.jsonl, ${told}`).waitFor()
  }
  expect(page.traffic.filter(({ method }) => method === 'POST')).toEqual([])
  await choose(`${line('a', model)}\n${line('b', model)}\n`)
  await dialog.getByText(/2 requests/).waitFor()
  expect(await dialog.getByLabel('Endpoint').inputValue()).toBe('/v1/chat/completions')
  await dialog.getByRole('combobox', { name: 'As the key' }).fill('Uploads')
  await page
    .getByRole('option', { name: /Uploads/ })
    .first()
    .click()
  await expectAccessible(page)
  const files = '**/ui/api/batches/files?*'
  await page.route(files, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Sign in</h1>' }))
  await dialog.getByRole('button', { name: 'Upload and run' }).click()
  await dialog.getByText('The console cannot read this answer.').waitFor()
  await page.unroute(files)
  await dialog.getByRole('button', { name: 'Upload and run' }).click()
  const panel = page.getByRole('complementary')
  await panel.getByText(/2 of 2/).waitFor()
  const id = new URL(page.url()).searchParams.get('open')
  const batch = await gateway.ask('GET', `/ui/api/batches/${id}`)
  expect(batch.body).toMatchObject({
    key_name: 'Uploads',
    endpoint: '/v1/chat/completions',
    progress: { completed: 2 },
  })
})
