import { describe, expect, inject, it } from 'vitest'
import { configOf } from '../support/gateway.ts'
import { readStream, spokenText } from '../support/sse.ts'
import { answer, change, marked, packed } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const model = `unusual-${run}`
const gateway = withGateway(() => configOf(upstream.url, { [model]: [model] }, 'router_settings: { cooldown_time: 0 }'))
const messages = [{ role: 'user', content: 'Hi' }]

describe('an answer of a provider', () => {
  it.each([
    ['behind a byte order mark', marked({})],
    ['packed by gzip', packed({ coding: 'gzip' })],
    ['packed by x-gzip', packed({ coding: 'x-gzip' })],
    ['packed by deflate', packed({ coding: 'deflate' })],
    ['packed by br', packed({ coding: 'br' })],
  ])('%s is read, whole and streamed', async (_how, how) => {
    const hello = answer({ text: 'Hello.' })
    await upstream.script(model, [change(hello, how), change(hello, how)])
    const whole = await gateway.chat({ model, messages })
    const body = await whole.text()
    expect([whole.status, body[0]]).toEqual([200, '{'])
    expect(JSON.parse(body).choices[0].message.content).toBe('Hello.')
    const stream = await readStream(await gateway.chat({ model, messages, stream: true }))
    expect(spokenText(stream)).toBe('Hello.')
    expect(stream.events.at(-1)?.data).toBe('[DONE]')
  })
})
