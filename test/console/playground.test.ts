import type { Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import { type ConsolePage, expectAccessible, type OpenOptions, withConsole } from '../support/console/with-console.ts'
import { answer, json, raw, serverError, stallAfter } from '../support/upstream/index.ts'

const gateway = withConsole()

// Other files ask it for chats.
afterEach(() => gateway.demo.upstream.script('gpt-5-mini-east', [answer()]))

let key: Promise<string> | undefined

/** As a key of this file: nothing that others call counts against its limits. */
async function open(path: string, options: OpenOptions = {}): Promise<ConsolePage> {
  key ??= gateway.ask('POST', '/ui/api/keys', { key_name: 'of the playground' }).then(({ body }) => body.key_id)
  return gateway.open(`${path}&key_id=${await key}`, options)
}

const model = (page: Page) => page.getByLabel('Model', { exact: true })

async function choose(page: Page, label: string, name: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).fill(name)
  // Beside its name may stand how it is: a test before may have made its deployment fail.
  await page.getByRole('option').filter({ hasText: name }).first().click()
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.keyboard.press('Control+Enter')
}

const story = (page: Page) => page.getByRole('list', { name: 'How the call went' })

/** The latest call of a deployment, as the ledger has it. */
async function latest(deployment: string) {
  const { body } = await gateway.ask('GET', `/ui/api/logs?deployment=${deployment}&limit=1`)
  return body.data[0]
}

it('a conversation streams, remembers what was said, and tells how each call went', async () => {
  const page = await open('play?model=echo')
  expect(page.traffic.length).toBeLessThanOrEqual(6)
  await say(page, 'one two three')
  await page.getByText('one two three').nth(1).waitFor()
  await story(page)
    .getByText(/tokens/)
    .waitFor()
  expect(await story(page).textContent()).toContain('echo-1')
  await say(page, 'four five')
  await page.getByText('four five').nth(1).waitFor()
  await expect
    .poll(() =>
      story(page)
        .getByText(/tokens/)
        .count(),
    )
    .toBe(2)
  const call = await latest('echo-1')
  expect(call).toMatchObject({ endpoint: '/v1/chat/completions', streamed: true, ending: 'answered' })
  // All that was said before is sent again.
  expect(call.input_tokens).toBeGreaterThan(call.output_tokens)
  await expectAccessible(page)
})

it('parameters, tools and more of the body are sent, and a wrong one is told at its field', async () => {
  const page = await open('play?model=gpt-5-mini')
  await page.getByLabel('System message').fill('Be brief.')
  await page.getByLabel('Stream the answer').uncheck()
  await page.getByLabel('Temperature').fill('0.5')
  await page.getByLabel('Tools').fill('[{"type": "function"')
  await say(page, 'What is the weather?')
  await page.getByText(/This is not JSON/).waitFor()
  expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('What is the weather?')
  await page
    .getByLabel('Tools')
    .fill('[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}]')
  await page.getByLabel('More of the body').fill('{"seed": 7}')
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Basel"}' } }
  const message = { role: 'assistant', content: null, tool_calls: [call] }
  const usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 }
  const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
  gateway.demo.upstream.script('gpt-5-mini-east', [
    json(200, { id: 'c', object: 'chat.completion', created: 1, model: 'gpt-5-mini', choices, usage }),
    answer(),
  ])
  await page.getByLabel('Message', { exact: true }).press('Control+Enter')
  await page.getByLabel('Result of weather').fill('Rain, 9 degrees')
  const sent = page.waitForRequest(/playground\/chat\/completions/)
  await page.getByRole('button', { name: 'Send the results' }).click()
  expect((await sent).postDataJSON()).toMatchObject({
    temperature: 0.5,
    seed: 7,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What is the weather?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Rain, 9 degrees' },
    ],
  })
  await page.getByText(/this is the scripted upstream/i).waitFor()
})

it('two models answer beside each other, and Escape stops what is under way', async () => {
  const page = await open('play?model=echo')
  await page.keyboard.press('Control+d')
  await choose(page, 'Second model', 'gpt-5-mini')
  expect(page.url()).toContain('second=gpt-5-mini')
  gateway.demo.upstream.script('gpt-5-mini-east', [answer({}, stallAfter({ frames: 4 }))])
  await say(page, 'both of you')
  const right = page.getByRole('region', { name: 'Model 2' })
  await right.getByText(/Hello,/).waitFor()
  await page.getByRole('region', { name: 'Model 1' }).getByText('both of you').nth(1).waitFor()
  await page.keyboard.press('Escape')
  await right.getByText('stopped').waitFor()
  await expect.poll(async () => (await latest('gpt-5-mini-east')).ending).toBe('client_closed')
  gateway.demo.upstream.script('gpt-5-mini-east', [answer()])
  await expectAccessible(page)
})

it('a refused call is shown in the words of the wire, with its story, and can be tried again', async () => {
  const page = await open('play?model=claude-opus')
  await model(page).fill('no-such-thing')
  await page.getByRole('option', { name: 'no-such-thing' }).click()
  await say(page, 'hello')
  await page
    .getByRole('alert')
    .getByText(/no-such-thing/)
    .waitFor()
  await choose(page, 'Model', 'echo')
  await page.getByRole('button', { name: 'Try again' }).click()
  await story(page).getByText('echo-1').waitFor()
  // What ends without its last line has broken off, whoever has cut it.
  const piece = { choices: [{ index: 0, delta: { content: 'Half an ans' }, finish_reason: null }] }
  await page.route(/playground\/chat/, (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: `data: ${JSON.stringify(piece)}\n\n` }),
  )
  await say(page, 'and now?')
  await page.getByText('Half an ans').waitFor()
  await page.getByRole('alert').getByText('The answer broke off.').waitFor()
})

it('a call that was rescued says so, and explains itself to those who may read the configuration', async () => {
  const page = await open('play?model=claude-opus')
  await page.getByLabel('Explain why a deployment was taken').check()
  for (const id of ['claude-opus-1', 'claude-opus-2']) gateway.demo.upstream.script(id, [serverError(), answer()])
  await say(page, 'hello')
  await story(page)
    .getByText(/\d tries/)
    .waitFor()
  await page.getByRole('list', { name: 'Why this deployment' }).waitFor()
})

it('the code of the call is the call', async () => {
  const page = await open('play?model=echo')
  await page.getByLabel('Message', { exact: true }).fill("it's me")
  await page.getByRole('button', { name: 'Code' }).click()
  const code = page.getByRole('region', { name: 'The call' })
  expect(await code.textContent()).toContain(`${gateway.url}/v1/chat/completions`)
  expect(await code.textContent()).toContain(`it'\\''s me`)
  await page.getByRole('button', { name: 'Python' }).click()
  expect(await code.textContent()).toContain('stream=True')
  await expectAccessible(page)
})

it('embeddings, images, speech, transcriptions and rankings are shown as what they are', async () => {
  const page = await open('play?kind=embeddings&model=gpt-5-mini')
  await page.getByRole('button', { name: 'Embed' }).click()
  await page.getByRole('region', { name: 'Vectors' }).getByText('1.000').waitFor()
  await story(page)
    .getByText(/tokens/)
    .waitFor()

  const use = async (tab: string) => {
    await page.getByRole('tab', { name: tab, exact: true }).click()
    await choose(page, 'Model', 'gpt-5-mini')
  }
  const script = (behaviour: ReturnType<typeof json>) => gateway.demo.upstream.script('gpt-5-mini-east', [behaviour])
  await use('Image')
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  script(json(200, { created: 1, data: [{ b64_json: dot }] }))
  await page.getByRole('button', { name: 'Make the image' }).click()
  expect(await page.getByRole('img', { name: 'Image 1' }).getAttribute('src')).toMatch(/^blob:/)

  await use('Speech')
  script(raw(200, 'ID3-sound', { 'content-type': 'audio/mpeg' }))
  await page.getByRole('button', { name: 'Speak' }).click()
  await page.getByText('audio/mpeg, 9 bytes').waitFor()

  await use('Transcription')
  script(json(200, { text: 'The train is late.' }))
  await page.getByRole('button', { name: 'Transcribe' }).click()
  await page.getByText('Choose a recording first.').waitFor()
  const recording = { name: 'a.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('ID3') }
  await page.getByLabel('Recording').setInputFiles(recording)
  await page.getByRole('button', { name: 'Transcribe' }).click()
  await page.getByText('The train is late.').waitFor()

  await use('Translation')
  script(json(200, { text: 'The train is on time.' }))
  await page.getByLabel('Recording').setInputFiles(recording)
  await page.getByRole('button', { name: 'Translate' }).click()
  await page.getByText('The train is on time.').waitFor()

  await use('Image edit')
  script(json(200, { created: 1, data: [{ b64_json: dot }] }))
  await page.getByRole('button', { name: 'Change the image' }).click()
  await page.getByText('Choose a picture first.').waitFor()
  await page
    .getByLabel('Picture')
    .setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(dot, 'base64') })
  await page.getByRole('button', { name: 'Change the image' }).click()
  await page.getByRole('img', { name: 'Image 1' }).waitFor()
  await page.getByRole('button', { name: 'Code' }).click()
  expect(await page.getByRole('region', { name: 'The call' }).textContent()).toContain('image=@picture.png')
  await page.keyboard.press('Escape')

  await use('Moderation')
  script(
    json(200, {
      results: [{ flagged: true, categories: { threat: true }, category_scores: { calm: 0.01, threat: 0.93 } }],
    }),
  )
  await page.getByRole('button', { name: 'Judge' }).click()
  await page.getByText('Harmful').waitFor()
  const judged = page.getByRole('region', { name: /^Categories/ }).getByRole('row')
  expect(await judged.nth(1).textContent()).toBe('threatyes0.930')

  await use('Rerank')
  script(
    json(200, {
      results: [
        { index: 1, relevance_score: 0.9 },
        { index: 0, relevance_score: 0.1 },
      ],
    }),
  )
  await page.getByRole('button', { name: 'Rerank' }).click()
  const table = page.getByRole('region', { name: /most relevant/ })
  await table.getByText('0.900').waitFor()
  expect(await table.getByRole('row').nth(1).textContent()).toContain('A forgotten password')
  await expectAccessible(page)
})

it('whoever has no key is told what is missing', async () => {
  const page = await gateway.open('play', { as: 'nobody_yet' })
  await page.getByText('No key to call as').waitFor()
  await expectAccessible(page)
})

it('the playground fits a phone', async () => {
  const page = await open('play?model=echo', { width: 390 })
  await page.getByLabel('Message', { exact: true }).fill('hello')
  await page.getByRole('button', { name: 'Send' }).click()
  await story(page).waitFor()
  await expectAccessible(page)
})
