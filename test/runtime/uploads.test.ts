import { describe, expect, inject, it } from 'vitest'
import { json, raw, reset, serverError } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const encoder = new TextEncoder()
const decoder = new TextDecoder('latin1')
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/uploads-${run}-${name}`
const LIMIT = 1_500_000

const deployment = (name: string, model: string, more = '') => `  - model_name: ${name}
    deployment_id: up-${name}
    gateway_params: { model: ${model}, api_base: "${upstream.url}${path(name)}", api_key: sk-canary }
    model_info: { mode: audio_transcription${more} }
`

const gateway = withGateway(
  () => `general_settings: { max_upload_bytes: ${LIMIT} }
router_settings: { allowed_fails: 0, cooldown_time: 60, num_retries: 2, retry_after: 0.01, stream_first_token_timeout: 1 }
model_list:
${['early', 'failed', 'reset', 'bad', 'large', 'slow', 'off'].map((name) => deployment(name, `openai-compatible/${name}-there`)).join('')}
${deployment('set', 'openai-compatible/set-there', ', default_params: { language: de, temperature: 0.2, include: [logprobs] }')}
${deployment('tagged', 'openai-compatible/us-there', ', tags: [us]')}
${deployment('tagged', 'openai-compatible/eu-there', ', tags: [eu]').replace('up-tagged', 'up-eu')}
${deployment('nova', 'deepgram/nova-3')}
${deployment('scribe', 'elevenlabs/scribe_v2')}`,
)

const field = (name: string, value: string) =>
  `--the-boundary\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const FILE =
  '--the-boundary\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n'
/** Every byte, and what looks like the beginning of a boundary. */
const sound = (length: number) =>
  Uint8Array.from({ length }, (_, at) => (at % 97 < 4 ? ([13, 10, 45, 45][at % 97] as number) : (at * 31) % 256))

/** A form that is sent as its pieces are said. */
function upload(): {
  readonly answer: Promise<Response>
  say(piece: string | Uint8Array): Promise<void>
  end(): Promise<void>
} {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const init = {
    method: 'POST',
    body: readable,
    duplex: 'half',
    headers: { 'content-type': 'multipart/form-data; boundary=the-boundary' },
  }
  const answer = gateway.fetch('/v1/audio/transcriptions', init as RequestInit)
  answer.catch(() => {})
  return {
    answer,
    // Whoever does not listen any more takes nothing.
    say: (piece) => writer.write(typeof piece === 'string' ? encoder.encode(piece) : piece).catch(() => {}),
    end: () => writer.close().catch(() => {}),
  }
}

async function send(...pieces: (string | Uint8Array)[]): Promise<Response> {
  const { answer, say, end } = upload()
  for (const piece of pieces) void say(piece)
  void end()
  return answer
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const lastBody = async (name: string) => decoder.decode((await upstream.calls(path(name))).at(-1)?.body)
const blamed = async (name: string) => {
  await gateway.idle()
  const [signals] = await gateway.store.signals([`up-${name}`])
  return signals
}
const clean = { failures: 0, cooledUntil: 0, active: 0 }
const heard = json(200, { text: 'Hello', usage: { type: 'duration', seconds: 7 } })

describe('an upload', () => {
  it('reaches its provider before its end has come, with the model renamed and nothing else', async () => {
    await upstream.script(path('early'), [heard])
    const bytes = sound(300_000)
    const { answer, say, end } = upload()
    await say(field('model', 'early') + field('language', 'de') + FILE)
    await say(bytes.subarray(0, 100_000))
    const [arrival] = await upstream.arrivals(path('early'), ([first]) => (first?.received ?? 0) > 90_000)
    expect(arrival?.state).toBe('coming')
    void say(bytes.subarray(100_000))
    void say(`\r\n${field('response_format', 'json')}--the-boundary--\r\n`)
    void end()
    const response = await answer
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ text: 'Hello' })
    const expected = `${field('model', 'early-there')}${field('language', 'de')}${FILE}${decoder.decode(bytes)}\r\n${field('response_format', 'json')}--the-boundary--\r\n`
    expect((await lastBody('early')) === expected).toBe(true)
    expect(await blamed('early')).toMatchObject(clean)
  })

  it('is read by what comes behind its file', async () => {
    const words = '1\n00:00:00,000 --> 00:00:01,000\nHello\n'
    await upstream.script(path('early'), [raw(200, words, { 'content-type': 'text/plain' })])
    const tail = `\r\n${field('response_format', 'srt')}--the-boundary--\r\n`
    const response = await send(field('model', 'early') + FILE, sound(100_000), tail)
    expect(await response.text()).toBe(words)
  })

  it('may name its model behind its file', async () => {
    await upstream.script(path('early'), [heard])
    const response = await send(FILE, sound(100_000), `\r\n${field('model', 'early')}--the-boundary--\r\n`)
    expect(response.status).toBe(200)
    expect(await lastBody('early')).toContain(field('model', 'early-there'))
  })

  it('goes by its tags, which no provider gets, and is refused where they come too late', async () => {
    await upstream.script(path('tagged'), [heard])
    const model = field('model', 'tagged')
    const tags = field('metadata[tags][]', 'eu')
    for (const [first, last] of [
      [tags + model, ''],
      [model + tags, ''],
      [model + field('metadata', '{"tags":["eu"]}'), ''],
      [model, `\r\n${tags.trimEnd()}`],
    ] as const) {
      const form = `${first}${FILE}RIFF${last}\r\n--the-boundary--\r\n`
      const response = await gateway.fetch('/v1/audio/transcriptions', {
        method: 'POST',
        body: form,
        headers: { 'content-type': 'multipart/form-data; boundary=the-boundary' },
      })
      expect([response.status, response.headers.get('x-gateway-deployment')]).toEqual([200, 'up-eu'])
      const sent = `${field('model', 'eu-there')}${FILE}RIFF\r\n--the-boundary--\r\n`
      expect(await lastBody('tagged')).toBe(sent)
    }
    const waited = await send(model + FILE, sound(400_000), `\r\n${tags}--the-boundary--\r\n`)
    expect([waited.status, waited.headers.get('x-gateway-deployment')]).toEqual([200, 'up-eu'])
    await upstream.script(path('early'), [heard])
    const late = await send(field('model', 'early') + FILE, sound(400_000), `\r\n${tags}--the-boundary--\r\n`)
    expect([late.status, (await late.json()).error.param]).toEqual([400, 'metadata[tags][]'])
  })

  it('leads nowhere else, whatever its fields say', async () => {
    await upstream.script(path('early'), [heard])
    const elsewhere = field('api_base', 'https://elsewhere') + field('fallbacks', '["other"]')
    const response = await send(elsewhere + field('model', 'early') + FILE, sound(1000), '\r\n--the-boundary--\r\n')
    expect([response.status, response.headers.get('x-gateway-dropped')]).toEqual([200, 'fallbacks, api_base'])
    const body = await lastBody('early')
    expect(body).toContain(field('api_base', '') + field('fallbacks', '') + field('model', 'early-there'))
  })

  it.each([
    ['an answer of 500', 'failed', serverError()],
    ['a reset', 'reset', reset()],
  ])('is sent again byte for byte after %s', async (_, model, failure) => {
    await upstream.script(path(model), [failure, heard])
    const bytes = sound(1_200_000)
    const response = await send(field('model', model) + FILE, bytes, '\r\n--the-boundary--\r\n')
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-attempts')).toBe('2')
    const calls = (await upstream.calls(path(model))).slice(-2)
    const [first, second] = calls.map(({ body }) => decoder.decode(body))
    expect(first === second).toBe(true)
    expect(second).toHaveLength(field('model', `${model}-there`).length + FILE.length + bytes.byteLength + 20)
  })

  it.each([
    ['a value that is none', `\r\n${field('temperature', 'warm')}--the-boundary--\r\n`, 'temperature'],
    ['a second model', `\r\n${field('model', 'other')}--the-boundary--\r\n`, 'model'],
    ['another host', `\r\n${field('api_base', 'https://x')}--the-boundary--\r\n`, 'api_base'],
    ['no end', '\r\n', null],
    ['a boundary that is none', '\r\n--the-boundary-not\r\n', null],
  ])('with %s behind its file is a clear error, and looks whole to nobody', async (_, tail, param) => {
    const before = (await upstream.arrivals(path('bad'), () => true)).length
    const { answer, say, end } = upload()
    await say(field('model', 'bad') + FILE)
    await say(sound(200_000))
    await upstream.arrivals(path('bad'), (all) => (all[before]?.received ?? 0) > 100_000)
    void say(tail)
    void end()
    const response = await answer
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param } })
    await upstream.arrivals(path('bad'), (all) => all[before]?.state === 'broken_off')
    expect(await blamed('bad')).toMatchObject(clean)
  })

  it('that is too large is refused while it comes, and its provider is left', async () => {
    const { answer, say, end } = upload()
    void say(field('model', 'large') + FILE)
    for (let sent = 0; sent <= LIMIT; sent += 100_000) void say(sound(100_000))
    void end()
    const response = await answer
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ error: { code: 'payload_too_large' } })
    await upstream.arrivals(path('large'), (all) => all.length === 1 && all[0]?.state === 'broken_off')
    expect(await blamed('large')).toMatchObject(clean)
  })

  it('of a slow client does not use up the time for the first word', async () => {
    const event = 'data: {"type":"transcript.text.done","text":"Hello"}\n\n'
    await upstream.script(path('slow'), [raw(200, event, { 'content-type': 'text/event-stream' })])
    const { answer, say, end } = upload()
    await say(field('model', 'slow') + field('stream', 'true') + FILE)
    await say('x')
    await wait(1500)
    void say('\r\n--the-boundary--\r\n')
    void end()
    const response = await answer
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(event)
  })

  it('is completed by what its operator set and its client left out', async () => {
    await upstream.script(path('set'), [heard])
    const response = await send(
      `${field('model', 'set')}${FILE}`,
      'sound',
      `\r\n${field('temperature', '0.7')}--the-boundary--\r\n`,
    )
    expect(response.status).toBe(200)
    const added = field('language', 'de') + field('include[]', 'logprobs')
    expect(await lastBody('set')).toBe(
      `${field('model', 'set-there')}${FILE}sound\r\n${field('temperature', '0.7')}${added}--the-boundary--\r\n`,
    )
  })
})

describe('an upload to a vendor of another shape', () => {
  const deepgram = {
    metadata: { duration: 2 },
    results: { channels: [{ alternatives: [{ transcript: 'Hello', words: [] }] }] },
  }

  it('streams as the bare recording', async () => {
    await upstream.script(path('nova'), [json(200, deepgram)])
    const { answer, say, end } = upload()
    await say(field('model', 'nova') + field('language', 'de') + FILE)
    await say('one '.repeat(99))
    await upstream.arrivals(path('nova'), ([first]) => (first?.received ?? 0) > 200)
    void say('two\r\n--the-boundary--\r\n')
    void end()
    expect(await (await answer).json()).toMatchObject({ text: 'Hello' })
    const call = (await upstream.calls(path('nova'))).at(-1)
    expect(decoder.decode(call?.body)).toBe(`${'one '.repeat(99)}two`)
    expect(call?.path).toContain('language=de')
  })

  it('is asked again where a field behind the file changes what was asked', async () => {
    await upstream.script(path('nova'), [json(200, deepgram)])
    const response = await send(
      field('model', 'nova') + FILE,
      'sound',
      `\r\n${field('language', 'fr')}--the-boundary--\r\n`,
    )
    expect(response.status).toBe(200)
    // The first of them never looked whole.
    const call = (await upstream.calls(path('nova'))).at(-1)
    expect(call?.path).toContain('language=fr')
    expect(decoder.decode(call?.body)).toBe('sound')
    expect(response.headers.get('x-gateway-attempts')).toBe('1')
    expect(await blamed('nova')).toMatchObject(clean)
  })

  it('streams as a form of its own, with what comes late at its end', async () => {
    await upstream.script(path('scribe'), [json(200, { text: 'Hello', language_code: 'fr', words: [] })])
    const { answer, say, end } = upload()
    await say(field('model', 'scribe') + field('num_speakers', '2') + FILE)
    await say('one ')
    await upstream.arrivals(path('scribe'), ([first]) => (first?.received ?? 0) > 0)
    void say(`two\r\n${field('language', 'fr')}--the-boundary--\r\n`)
    void end()
    expect(await (await answer).json()).toMatchObject({ text: 'Hello' })
    const call = (await upstream.calls(path('scribe'))).at(-1)
    const headers = { 'content-type': call?.headers['content-type'] ?? '' }
    const form = await new Response(call?.body as BodyInit, { headers }).formData()
    expect([...form.keys()]).toEqual(['num_speakers', 'model_id', 'file', 'language_code'])
    expect([form.get('num_speakers'), form.get('model_id'), form.get('language_code')]).toEqual([
      '2',
      'scribe_v2',
      'fr',
    ])
    expect(await (form.get('file') as File).text()).toBe('one two')
  })
})
