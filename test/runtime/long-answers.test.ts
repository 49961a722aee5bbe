import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, inject, it } from 'vitest'
import { chatInit, configOf } from '../support/gateway.ts'
import { frames, hugeAnswer, json, slowBetween, stallAfter } from '../support/upstream/index.ts'
import { frame } from '../support/upstream/openai-chat.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

/** More than all buffers on the way hold. */
const LONG_BYTES = 16_000_000
const STALL_SECONDS = 6
const upstream = upstreamClient(inject('upstreamUrl'))
const model = `long-${crypto.randomUUID()}`

const gateway = withGateway(() => {
  const settings = `general_settings:\n  client_stall_timeout: ${STALL_SECONDS}\n  max_in_flight_bytes: 40000000\n  max_key_in_flight_bytes: 40000000\n`
  return configOf(upstream.url, { [model]: [model] }, settings)
})

const ask = async (textBytes: number) => {
  await upstream.script(model, [hugeAnswer(textBytes)])
  return gateway.chat({ model, messages: [{ role: 'user', content: 'Hi' }] })
}
const endings = () => gateway.records.flatMap(({ entry }) => (entry as { ending?: string }).ending ?? [])
async function ended(count: number): Promise<string[]> {
  for (let turn = 0; turn < 300 && endings().length < count; turn++) await wait(100)
  return endings().slice(count - 1)
}

describe('a long answer', () => {
  it.each([70_000, 300_000, LONG_BYTES])('of %i bytes comes whole, with its length', async (textBytes) => {
    const before = endings().length
    const response = await ask(textBytes)
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(JSON.parse(text).choices[0].message.content.length).toBeGreaterThanOrEqual(textBytes)
    expect(Number(response.headers.get('content-length'))).toBe(text.length)
    expect(await ended(before + 1)).toEqual(['answered'])
  })

  it('ends its call when it is taken, and not before', async () => {
    const before = endings().length
    const response = await ask(LONG_BYTES)
    await wait(700)
    expect(endings().length).toBe(before)
    await response.arrayBuffer()
    expect(await ended(before + 1)).toEqual(['answered'])
  })

  it('ends its call when its client leaves, and is paid for', async () => {
    const before = endings().length
    const response = await ask(LONG_BYTES)
    await response.body?.cancel()
    expect(await ended(before + 1)).toEqual(['client_closed'])
    expect(gateway.records.at(-1)?.entry).toMatchObject({ ending: 'client_closed' })
  })

  it('counts as memory also where a stream was asked for', async () => {
    const before = endings().length
    const message = { role: 'assistant', content: 'x'.repeat(LONG_BYTES) }
    await upstream.script(model, [json(200, { choices: [{ index: 0, message, finish_reason: 'stop' }] })])
    const call = () => gateway.chat({ model, stream: true, messages: [{ role: 'user', content: 'Hi' }] })
    const answers = await Promise.all([call(), call(), call()])
    const refused = answers.filter(({ status }) => status === 503)
    expect(refused.length).toBeGreaterThanOrEqual(1)
    await Promise.all(answers.map((response) => response.arrayBuffer()))
    expect((await ended(before + 3)).length).toBe(1)
  })

  it('counts as memory also where a stream says much before it answers', async () => {
    const before = endings().length
    const said = frame({ choices: [{ index: 0, delta: { role: 'assistant' } }], padding: 'x'.repeat(1_000_000) })
    const content = frame({ choices: [{ index: 0, delta: { content: 'Hello' } }] })
    const preface = Array.from({ length: 16 }, () => said)
    await upstream.script(model, [frames([...preface, content, content], {}, stallAfter({ frames: 17 }))])
    const call = () => gateway.chat({ model, stream: true, messages: [{ role: 'user', content: 'Hi' }] })
    const answers = await Promise.all([call(), call(), call()])
    const refused = answers.filter(({ status }) => status === 503)
    expect(refused.length).toBeGreaterThanOrEqual(1)
    for (const response of refused) expect((await response.json()).error.code).toBe('too_many_bytes_in_flight')
    for (const response of answers) if (response.status === 200) await response.body?.cancel()
    expect((await ended(before + 3)).length).toBe(1)
  })

  it('counts as memory while it is streamed, where its end repeats it', async () => {
    const before = endings().length
    const piece = frame({ choices: [{ index: 0, delta: { content: 'x'.repeat(500_000) } }] })
    await upstream.script(model, [frames(Array(12).fill(piece), {}, slowBetween({ ms: 150 }))])
    const call = async () => {
      const response = await gateway.fetch('/v1/responses', chatInit({ model, stream: true, input: 'Hi' }))
      return (await response.text()).slice(-1000)
    }
    const ends = await Promise.all([call(), call()])
    expect(ends.filter((end) => end.includes('The memory for request bodies')).length).toBe(1)
    expect((await ended(before + 2)).length).toBe(1)
  })

  it('is broken off where nothing of it is taken for too long, and its memory is free again', async () => {
    const before = endings().length
    await upstream.script(model, [hugeAnswer(LONG_BYTES), hugeAnswer(LONG_BYTES), hugeAnswer(LONG_BYTES)])
    const call = () => gateway.chat({ model, messages: [{ role: 'user', content: 'Hi' }] })
    const answers = await Promise.all([call(), call(), call()])
    const untaken = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status === 503)
    expect(untaken.length).toBeGreaterThanOrEqual(1)
    expect(untaken.length).toBeLessThanOrEqual(2)
    expect(refused.length).toBe(3 - untaken.length)
    for (const response of refused) {
      expect((await response.json()).error.code).toBe('too_many_bytes_in_flight')
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await ended(before + 3)).length).toBe(1)
    const told = answers.map(({ status }) => (status === 200 ? 'client_closed' : 'failed'))
    expect(endings().slice(before).sort()).toEqual(told.sort())
    for (const response of untaken) await expect(response.arrayBuffer()).rejects.toThrow()
    await wait(200)
    const response = await ask(LONG_BYTES)
    expect(response.status).toBe(200)
    await response.arrayBuffer()
  }, 60_000)
})
