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
  await panel.getByRole('row').filter({ hasText: 'bad' }).waitFor()
  expect(await panel.getByRole('row').filter({ hasText: 'good' }).count()).toBe(0)
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
