import { describe, expect, inject, it } from 'vitest'
import { configuration, deployment } from '../support/configuration.ts'
import { readStream, spokenText } from '../support/sse.ts'
import {
  answer,
  badRequest,
  change,
  frames,
  raw,
  serverError,
  silence,
  slowBetween,
  slowFirstToken,
  slowHeaders,
  stallAfter,
} from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const messages = [{ role: 'user', content: 'Count.' }]
const WHOLE = 'one two three four five six'
const gateway = withGateway()
let serial = 0
let [first, second, spare] = ['', '', '']

interface Setup {
  readonly settings?: object
  /** `gateway_params` of the first deployment. */
  readonly own?: object
  readonly members?: number
  readonly info?: object
  /** The others have the general timeout as well. Else they have time: a busy machine is no silence. */
  readonly strict?: true
}

/** A group of one or two, in this order of preference, and a fallback of one. */
async function begin({ settings, own, members = 1, info, strict }: Setup): Promise<void> {
  serial += 1
  ;[first, second, spare] = ['first', 'second', 'spare'].map((name) => `timeouts-${run}-${serial}-${name}`) as [
    string,
    string,
    string,
  ]
  const time = strict ? {} : { timeout: 10 }
  const others = members > 1 ? [deployment(upstream.url, 'group', second, { priority: 1, ...info }, time)] : []
  await gateway.restart(
    configuration({
      router_settings: { routing_strategy: 'priority-based-routing', timeout: 0.4, retry_after: 0.01, ...settings },
      gateway_settings: { fallbacks: [{ group: ['spare'] }] },
      model_list: [
        deployment(upstream.url, 'group', first, { priority: 0, ...info }, own),
        ...others,
        deployment(upstream.url, 'spare', spare, info, time),
      ],
    }),
  )
  for (const id of [first, second, spare]) await upstream.script(id, [answer({ text: id })])
}

const failures = async (id: string) => {
  await gateway.idle()
  return (await gateway.store.signals([id]))[0]?.failures
}

async function ask(streamed = false) {
  const started = performance.now()
  const response = await gateway.chat({ model: 'group', messages, ...(streamed ? { stream: true } : {}) })
  const text = streamed && response.ok ? spokenText(await readStream(response)) : undefined
  const body = text === undefined ? ((await response.json()) as Record<string, never>) : undefined
  return {
    status: response.status,
    code: (body as { error?: { code: string } } | undefined)?.error?.code,
    by: response.headers.get('x-gateway-deployment'),
    attempts: Number(response.headers.get('x-gateway-attempts')),
    text,
    tookMs: performance.now() - started,
  }
}

describe('`timeout`', () => {
  it.each([
    ['whole', false],
    ['streamed', true],
  ])('is how long a silent deployment is waited for before the fallback answers, %s', async (_, streamed) => {
    await begin({})
    await upstream.script(first, [silence()])
    const answered = await ask(streamed)
    expect(answered).toMatchObject({ status: 200, by: spare, attempts: 2 })
    expect(answered.tookMs).toBeGreaterThan(380)
    expect(answered.tookMs).toBeLessThan(10_000)
    expect(await failures(first)).toBe(1)
  })

  it('holds for each attempt: the next one of the group has its own', async () => {
    await begin({ members: 2, settings: { num_retries: 1 } })
    await upstream.script(first, [silence()])
    await upstream.script(second, [change(answer({ text: WHOLE }), slowHeaders({ ms: 250 }))])
    expect(await ask()).toMatchObject({ status: 200, by: second, attempts: 2 })
    expect(await failures(second)).toBe(0)
  })

  it.each([
    ['shorter', { settings: { timeout: 15 }, own: { timeout: 0.3 } }, 6000, 'spare'],
    ['longer', { settings: { timeout: 0.2 }, own: { timeout: 10 } }, 700, 'first'],
  ] as const)('of a deployment takes the place of the general one, where it is %s', async (_, setup, ms, by) => {
    await begin(setup)
    await upstream.script(first, [change(answer({ text: WHOLE }), slowHeaders({ ms }))])
    expect(await ask()).toMatchObject({ status: 200, by: by === 'first' ? first : spare })
  })

  it('ends an answer that comes in one and does not come to its end', async () => {
    await begin({})
    await upstream.script(first, [answer({ text: WHOLE }, stallAfter({ bytes: 20 }))])
    expect(await ask()).toMatchObject({ status: 200, by: spare, attempts: 2 })
  })

  it('does not cut a stream that has begun and goes on', async () => {
    await begin({})
    await upstream.script(first, [answer({ text: WHOLE }, slowBetween({ ms: 150 }))])
    const answered = await ask(true)
    expect(answered).toMatchObject({ by: first, text: WHOLE, attempts: 1 })
    expect(answered.tookMs).toBeGreaterThan(800)
    expect(await failures(first)).toBe(0)
  })

  it('alone bounds a streamed image, which has no tokens: its first event may be its last', async () => {
    const short = { stream_first_token_timeout: 0.2, stream_idle_timeout: 0.2, stream_keep_alive: 0.1 }
    await begin({ own: { timeout: 10 }, settings: short })
    const event = (type: string) => `data: {"type":"image_generation.${type}","b64_json":"AA"}\n\n`
    const events = [event('partial_image'), event('completed')]
    await upstream.script(first, [frames(events, {}, slowFirstToken({ ms: 500 }), slowBetween({ ms: 500 }))])
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'group', prompt: 'A cat.', stream: true }),
    }
    const streamed = await gateway.fetch('/v1/images/generations', init)
    const text = await streamed.text()
    expect(text.replace(/^: .*\n\n/gm, '')).toBe(events.join(''))
    expect(text.slice(0, text.indexOf('data'))).toContain(': keep-alive')
    expect(streamed.headers.get('x-gateway-deployment')).toBe(first)
  })

  it('does not cut a sound that has begun and goes on; one that stalls is broken off', async () => {
    await begin({ settings: { stream_idle_timeout: 1.5 } })
    const sound = raw(200, 'sound', { 'content-type': 'audio/mpeg' })
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'group', input: 'Hi', voice: 'alloy' }),
    }
    const pieces = { ...sound.say, pieces: ['one ', 'two ', 'three ', 'four'] } as typeof sound.say
    await upstream.script(first, [{ say: pieces, changes: [slowBetween({ ms: 200 })] }])
    expect(await (await gateway.fetch('/v1/audio/speech', init)).text()).toBe('one two three four')
    await gateway.idle()
    await upstream.script(first, [{ say: pieces, changes: [stallAfter({ frames: 2 })] }])
    const started = performance.now()
    const stalled = await gateway.fetch('/v1/audio/speech', init)
    await expect(stalled.text()).rejects.toThrow()
    expect(performance.now() - started).toBeLessThan(10_000)
    expect(await failures(first)).toBe(1)
  })
})

describe('a silent deployment that has retries left', () => {
  const order = async () => {
    const all = await Promise.all([first, second, spare].map((id) => upstream.calls(id)))
    return all
      .flat()
      .sort((a, b) => a.startedAt - b.startedAt)
      .map(({ model }) => model)
  }

  it.each([
    ['whole', false],
    ['streamed', true],
  ])('is not asked again while a fallback can be, %s', async (_, streamed) => {
    await begin({ settings: { num_retries: 3 } })
    await upstream.script(first, [silence()])
    const answered = await ask(streamed)
    expect(answered).toMatchObject({ status: 200, by: spare, attempts: 2 })
    expect(answered.tookMs).toBeLessThan(10_000)
    expect(await failures(first)).toBe(1)
  })

  it('is asked again when the fallback has failed, though its failure cools it', async () => {
    await begin({ settings: { num_retries: 1, cooldown_time: 60 } })
    await upstream.script(first, [silence(), answer({ text: 'late' })])
    await upstream.script(spare, [serverError()])
    expect(await ask()).toMatchObject({ status: 200, by: first, attempts: 4 })
    expect(await order()).toEqual([first, spare, spare, first])
  })

  it('comes after the other deployments of its group, and their retries', async () => {
    await begin({ members: 2, settings: { num_retries: 2 } })
    await upstream.script(first, [silence()])
    await upstream.script(second, [serverError(), answer({ text: 'better' })])
    expect(await ask()).toMatchObject({ status: 200, by: second, attempts: 3 })
    expect(await order()).toEqual([first, second, second])
  })

  it('has its turns one after the other with the silent ones of the fallback, and no more than its retries', async () => {
    await begin({ strict: true, settings: { num_retries: 1, timeout: 0.2 } })
    for (const id of [first, spare]) await upstream.script(id, [silence()])
    expect(await ask()).toMatchObject({ status: 504, code: 'upstream_timeout', attempts: 4 })
    expect(await order()).toEqual([first, spare, first, spare])
  })

  it('is not asked again when a fallback has refused the request itself', async () => {
    await begin({ settings: { num_retries: 3 } })
    await upstream.script(first, [silence()])
    await upstream.script(spare, [badRequest()])
    expect(await ask()).toMatchObject({ status: 400, attempts: 2 })
  })

  it('is asked again at once where there is nobody else', async () => {
    await begin({ settings: { num_retries: 1 } })
    await gateway.restart(
      configuration({
        router_settings: { num_retries: 1, timeout: 0.3, retry_after: 0.01 },
        model_list: [deployment(upstream.url, 'group', first)],
      }),
    )
    await upstream.script(first, [silence(), answer({ text: 'late' })])
    expect(await ask()).toMatchObject({ status: 200, by: first, attempts: 2 })
  })
})

describe('`total_timeout`', () => {
  it.each([
    ['whole', false],
    ['streamed', true],
  ])('bounds all attempts together, %s', async (_, streamed) => {
    await begin({ strict: true, members: 2, settings: { num_retries: 9, total_timeout: 1 } })
    for (const id of [first, second, spare]) await upstream.script(id, [silence()])
    const refused = await ask(streamed)
    expect(refused.status).toBe(504)
    expect(refused.tookMs).toBeGreaterThan(800)
    expect(refused.tookMs).toBeLessThan(8000)
  })

  it('is nobody’s fault where the deployment has had little of it, and its own where it has had most', async () => {
    await begin({ strict: true, settings: { timeout: 0.6, total_timeout: 0.8 } })
    for (const id of [first, spare]) await upstream.script(id, [silence()])
    expect(await ask()).toMatchObject({ status: 504, code: 'call_timeout', by: spare })
    expect([await failures(first), await failures(spare)]).toEqual([1, 0])
    await gateway.close()
    await begin({ settings: { timeout: 5, total_timeout: 0.5 } })
    await upstream.script(first, [silence()])
    expect(await ask()).toMatchObject({ status: 504, code: 'upstream_timeout', by: first })
    expect(await failures(first)).toBe(1)
  })

  it('cuts a stream however well it goes, with an error event, and blames nobody', async () => {
    await begin({ settings: { total_timeout: 0.6 } })
    await upstream.script(first, [answer({ text: WHOLE }, slowBetween({ ms: 150 }))])
    const stream = await readStream(await gateway.chat({ model: 'group', messages, stream: true }))
    expect(stream.text).not.toContain('[DONE]')
    expect(JSON.parse(stream.events.at(-1)?.data ?? '{}')).toMatchObject({ error: { code: 'call_timeout' } })
    expect(await failures(first)).toBe(0)
  })
})

describe('an upload', () => {
  const encoder = new TextEncoder()
  const HEAD =
    '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\ngroup\r\n' +
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n'
  /** Its pieces come so many milliseconds apart; without an end, it stalls. */
  function send(pieces: number, everyMs: number, ends: boolean): Promise<Response> {
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (sent === 0) controller.enqueue(encoder.encode(HEAD))
        else if (sent <= pieces) {
          await new Promise((resolve) => setTimeout(resolve, everyMs))
          controller.enqueue(encoder.encode('sound'))
        } else if (ends) {
          controller.enqueue(encoder.encode('\r\n--b--\r\n'))
          controller.close()
        } else await new Promise(() => {})
        sent += 1
      },
    })
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const init = { method: 'POST', body, duplex: 'half', headers }
    return gateway.fetch('/v1/audio/transcriptions', init as RequestInit)
  }
  let path: string
  const upload = async (settings: object) => {
    path = `/timeouts-${run}-${serial + 1}`
    const api_base = `${upstream.url}${path}`
    await upstream.script(path, [{ ...raw(200, '{"text":"Hello"}', { 'content-type': 'application/json' }) }])
    await begin({
      settings: { cooldown_time: 60, ...settings },
      own: { api_base },
      info: { mode: 'audio_transcription' },
    })
  }

  it('of a slow client takes its time beyond the timeout', async () => {
    await upload({})
    const response = await send(6, 150, true)
    expect([response.status, await response.json()]).toMatchObject([200, { text: 'Hello' }])
    expect(await failures(first)).toBe(0)
  })

  it('that stalls is the client’s failure, and blames no deployment', async () => {
    await upload({ total_timeout: 0.8, num_retries: 2 })
    const response = await send(1, 10, false)
    expect(response.status).toBe(408)
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', code: 'request_timeout' } })
    expect(response.headers.get('x-gateway-attempts')).toBe('1')
    expect(await failures(first)).toBe(0)
  })

  it('that a provider takes and does not answer is the provider’s failure', async () => {
    await upload({ num_retries: 0 })
    await upstream.script(path, [silence()])
    const response = await send(6, 100, true)
    expect(response.headers.get('x-gateway-attempts')).toBe('2')
    expect(await failures(first)).toBe(1)
  })
})

it('an attempt that fails at once leaves the others their time', async () => {
  await begin({ members: 2, settings: { num_retries: 1 } })
  await upstream.script(first, [serverError()])
  await upstream.script(second, [change(answer({ text: WHOLE }), slowHeaders({ ms: 300 }))])
  expect(await ask()).toMatchObject({ status: 200, by: second, attempts: 2 })
})
