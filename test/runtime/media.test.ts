import { describe, expect, inject, it } from 'vitest'
import { chatInit, startGateway } from '../support/gateway.ts'
import { cutAfter, frames, json, raw, silence } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const decoder = new TextDecoder()
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/media-${run}-${name}`

const gateway = withGateway(() => {
  const names = ['embed', 'image', 'speech', 'hear', 'rank']
  const entry = (name: string, info: string, model = name) => `  - model_name: ${name}
    gateway_params: { model: openai-compatible/up-${model}, api_base: "${upstream.url}${path(model)}/v1", api_key: sk-canary }
    model_info: ${info}
`
  const entries = names.map((name) =>
    entry(name, '{ cost_per_audio_second: 0.0001, cost_per_image: 0.04, cost_per_character: 0.00001 }'),
  )
  entries.push(entry('spoken', '{ input_cost_per_token: 0.000001, output_cost_per_token: 0.00001 }', 'speech'))
  return `router_settings: { cooldown_time: 0 }\nmodel_list:\n${entries.join('')}`
})

const post = (to: string, body: unknown) => gateway.fetch(to, chatInit(body))
const finished = async () => {
  await gateway.idle()
  return gateway.logs.filter(({ event }) => event === 'call.finished').at(-1)
}

describe('embeddings', () => {
  it('come back byte for byte', async () => {
    const body = {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: 'AACAPw==' }],
      model: 'up-embed',
      usage: { prompt_tokens: 5, total_tokens: 5 },
    }
    await upstream.script(path('embed'), [json(200, body)])
    const response = await post('/v1/embeddings', {
      model: 'embed',
      input: ['a', 'b'],
      encoding_format: 'base64',
      unknown: 1,
    })
    expect(await response.text()).toBe(JSON.stringify(body))
    const [call] = await upstream.calls(path('embed'))
    expect(call?.path).toBe(`${path('embed')}/v1/embeddings`)
    expect(decoder.decode(call?.body)).toBe(
      '{"model":"up-embed","input":["a","b"],"encoding_format":"base64","unknown":1}',
    )
    expect(await finished()).toMatchObject({ mode: 'embedding', usage: { inputTokens: 5 } })
  })

  it('want an input', async () => {
    const response = await post('/v1/embeddings', { model: 'embed' })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param: 'input' } })
  })
})

describe('images', () => {
  it('are billed as many as came, whatever was asked for, where the provider counts no tokens', async () => {
    await upstream.script(path('image'), [json(200, { created: 1, data: [{ url: 'https://images.test/1' }] })])
    const response = await post('/v1/images/generations', { model: 'image', prompt: 'A cat', n: 4, size: '256x256' })
    expect(response.status).toBe(200)
    await response.text()
    expect(await finished()).toMatchObject({ usage: { images: 1, imageSize: '256x256' } })
  })

  it('are counted, whole and streamed', async () => {
    await upstream.script(path('image'), [json(200, { created: 1, data: [{ b64_json: 'AA' }, { b64_json: 'BB' }] })])
    const response = await post('/v1/images/generations', { model: 'image', prompt: 'a cat', n: 2, size: '1024x1024' })
    expect((await response.json()) as object).toMatchObject({ data: [{ b64_json: 'AA' }, { b64_json: 'BB' }] })
    expect(await finished()).toMatchObject({ usage: { images: 2 } })

    const events = [
      'event: image_generation.partial_image\ndata: {"type":"image_generation.partial_image","b64_json":"A"}\n\n',
      'event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"AB","usage":{"input_tokens":3,"output_tokens":9}}\n\n',
    ]
    await upstream.script(path('image'), [frames(events)])
    const streamed = await post('/v1/images/generations', {
      model: 'image',
      prompt: 'a cat',
      stream: true,
      partial_images: 1,
    })
    expect(await streamed.text()).toBe(events.join(''))
    expect(await finished()).toMatchObject({ ending: 'answered', usage: { images: 1, outputTokens: 9 } })
  })

  it('that are cut while they come cost what was asked for', async () => {
    const event = 'data: {"type":"image_generation.partial_image","b64_json":"A"}\n\n'
    const failing = 'data: {"type":"error","error":{"message":"Overloaded","type":"server_error"}}\n\n'
    const ask = () => post('/v1/images/generations', { model: 'image', prompt: 'a cat', n: 2, stream: true })
    await upstream.script(path('image'), [frames([event])])
    expect(await (await ask()).text()).toContain('"error"')
    expect(await finished()).toMatchObject({ usage: { images: 2, estimated: true }, costNano: 8e7 })
    await upstream.script(path('image'), [frames([failing])])
    expect((await ask()).status).toBeGreaterThanOrEqual(500)
    expect(await finished()).toMatchObject({ ending: 'failed', costNano: 0 })
  })

  it('that a client leaves cost what was asked for, as an estimate', async () => {
    await upstream.script(path('image'), [silence()])
    const leaving = new AbortController()
    const init = { ...chatInit({ model: 'image', prompt: 'a cat', n: 2 }), signal: leaving.signal }
    const asking = gateway.fetch('/v1/images/generations', init).catch(() => undefined)
    await upstream.until(path('image'), (calls) => calls.at(-1)?.outcome === 'running')
    leaving.abort()
    await asking
    expect(await finished()).toMatchObject({
      ending: 'client_closed',
      usage: { images: 2, estimated: true },
      costNano: 8e7,
    })
  })

  it('refuse a size that is none', async () => {
    const response = await post('/v1/images/generations', { model: 'image', prompt: 'a cat', size: 'big' })
    expect(await response.json()).toMatchObject({ error: { param: 'size' } })
  })
})

describe('speech', () => {
  const sound = '\u0000\u0001RIFF-sound-'.repeat(500)

  it('is passed on as it comes, with the media type of the provider', async () => {
    await upstream.script(path('speech'), [raw(200, sound, { 'content-type': 'audio/mpeg' })])
    const response = await post('/v1/audio/speech', {
      model: 'speech',
      input: 'Hello',
      voice: 'alloy',
      response_format: 'mp3',
    })
    expect(response.headers.get('content-type')).toBe('audio/mpeg')
    expect(await response.text()).toBe(sound)
    expect(await finished()).toMatchObject({ ending: 'answered', usage: { characters: 5, estimated: false } })
  })

  it('that is cut is never taken for a whole one', async () => {
    await upstream.script(path('speech'), [
      raw(200, sound, { 'content-type': 'audio/mpeg' }, cutAfter({ bytes: 2000 })),
    ])
    const response = await post('/v1/audio/speech', { model: 'speech', input: 'Hello', voice: 'alloy' })
    await expect(response.text()).rejects.toThrow()
    expect(await finished()).toMatchObject({ ending: 'truncated', usage: { characters: 5 }, costNano: 50_000 })
  })

  it.each(['text/plain', 'application/xml', 'application/json'])('is no document: %s', async (type) => {
    await upstream.script(path('speech'), [raw(200, 'The server is overloaded.', { 'content-type': type })])
    const response = await post('/v1/audio/speech', { model: 'speech', input: 'Hello', voice: 'alloy' })
    expect(response.status).toBe(502)
    expect(await finished()).toMatchObject({ ending: 'failed', costNano: 0 })
  })

  const asEvents = { model: 'spoken', input: 'Hello', voice: 'alloy', stream_format: 'sse' }
  const delta = 'data: {"type":"speech.audio.delta","audio":"AAA="}\n\n'
  const done = 'data: {"type":"speech.audio.done","usage":{"input_tokens":3,"output_tokens":50,"total_tokens":53}}\n\n'

  it('comes as events, billed by the tokens that the last one tells', async () => {
    await upstream.script(path('speech'), [frames([delta, done])])
    const response = await post('/v1/audio/speech', asEvents)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(await response.text()).toBe(delta + done)
    const usage = { characters: 5, inputTokens: 3, outputTokens: 50 }
    expect(await finished()).toMatchObject({ ending: 'answered', usage, costNano: 503_000 })
  })

  it('of events that end without the last one is not whole', async () => {
    await upstream.script(path('speech'), [frames([delta])])
    const response = await post('/v1/audio/speech', asEvents)
    expect(await response.text()).toMatch(/^data: .*\n\ndata: {"error":.*upstream_truncated/)
    expect(await finished()).toMatchObject({ ending: 'truncated' })
  })

  it('of events that begin with an error has failed', async () => {
    await upstream.script(path('speech'), [frames(['data: {"type":"error","error":{"message":"Overloaded"}}\n\n'])])
    const response = await post('/v1/audio/speech', asEvents)
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_failed' } })
  })

  it('is billed by likely tokens where it is bytes and its price is one of tokens', async () => {
    await upstream.script(path('speech'), [raw(200, sound, { 'content-type': 'audio/mpeg' })])
    const response = await post('/v1/audio/speech', { model: 'spoken', input: 'Hello', voice: 'alloy' })
    await response.text()
    const usage = { characters: 5, inputTokens: 1, outputTokens: 7, estimated: true }
    expect(await finished()).toMatchObject({ usage, costNano: 71_000 })
  })
})

describe('transcription', () => {
  const form = (fields: Record<string, string>) => {
    const data = new FormData()
    data.set('file', new File([new Uint8Array([1, 13, 10, 45, 45, 255, 0])], 'grüße.wav', { type: 'audio/wav' }))
    for (const [name, value] of Object.entries(fields)) data.set(name, value)
    return data
  }
  const hear = (fields: Record<string, string>) =>
    gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body: form(fields) })

  it('sends the form on with the model renamed and the file byte for byte', async () => {
    await upstream.script(path('hear'), [json(200, { text: 'Hello', usage: { type: 'duration', seconds: 7 } })])
    const response = await hear({ model: 'hear', language: 'de', temperature: '0.2' })
    expect(await response.json()).toMatchObject({ text: 'Hello' })
    const call = (await upstream.calls(path('hear'))).at(-1)
    const sent = await new Response(call?.body as BodyInit, {
      headers: { 'content-type': call?.headers['content-type'] ?? '' },
    }).formData()
    expect(sent.get('model')).toBe('up-hear')
    expect(sent.get('language')).toBe('de')
    const file = sent.get('file') as File
    expect(file.name).toBe('grüße.wav')
    expect([...new Uint8Array(await file.arrayBuffer())]).toEqual([1, 13, 10, 45, 45, 255, 0])
    expect(await finished()).toMatchObject({ usage: { audioSeconds: 7 } })
  })

  // Nobody reports what a plain answer costs, and it must not cost nothing.
  it.each([
    ['text', 'Hello\n', 'text/plain; charset=utf-8', 1],
    ['srt', '1\n00:00:00,000 --> 00:01:01,500\nHello\n', 'text/plain; charset=utf-8', 61.5],
    ['vtt', 'WEBVTT\n\n00:00.000 --> 00:07.000\nHello\n', 'text/vtt', 7],
    ['json', '{"text":"Hello"}', 'application/json', 1],
  ])('comes back as %s, and is billed by what is known', async (format, answer, type, audioSeconds) => {
    await upstream.script(path('hear'), [raw(200, answer, { 'content-type': type })])
    const response = await hear({ model: 'hear', response_format: format })
    expect(response.headers.get('content-type')).toBe(type)
    expect(await response.text()).toBe(answer)
    expect(await finished()).toMatchObject({ usage: { audioSeconds, estimated: true }, costNano: audioSeconds * 1e5 })
  })

  it('is plain text also from a server that answers JSON to every format', async () => {
    const answer = { text: 'Hello. Bye.', duration: 7, segments: [{ text: ' Hello. Bye.', start: 1, end: 2.5 }] }
    await upstream.script(path('hear'), [json(200, answer)])
    expect(await (await hear({ model: 'hear', response_format: 'text' })).text()).toBe('Hello. Bye.\n')
    const subtitles = await hear({ model: 'hear', response_format: 'srt' })
    expect(await subtitles.text()).toBe('1\n00:00:01,000 --> 00:00:02,500\nHello. Bye.\n\n')
    expect(await finished()).toMatchObject({ usage: { audioSeconds: 7 } })
    await upstream.script(path('hear'), [json(200, { text: 'Hello.' })])
    const untimed = await hear({ model: 'hear', response_format: 'srt' })
    expect(await untimed.json()).toMatchObject({ error: { code: 'unusable_answer' } })
  })

  it.each(['text', 'srt', 'vtt', 'verbose_json'])('is no error document with status 200: %s', async (format) => {
    await upstream.script(path('hear'), [json(200, { error: { message: 'Overloaded', type: 'server_error' } })])
    const response = await hear({ model: 'hear', response_format: format })
    expect(response.status).toBe(502)
    expect(await finished()).toMatchObject({ ending: 'failed', costNano: 0 })
  })

  it('streams its events', async () => {
    const events = [
      'data: {"type":"transcript.text.delta","delta":"Hel"}\n\n',
      'data: {"type":"transcript.text.done","text":"Hello","usage":{"input_tokens":4,"output_tokens":2}}\n\n',
    ]
    await upstream.script(path('hear'), [frames(events)])
    const response = await hear({ model: 'hear', stream: 'true' })
    expect(await response.text()).toBe(events.join(''))
  })

  it('that is cut while it comes is billed by its length', async () => {
    await upstream.script(path('hear'), [frames(['data: {"type":"transcript.text.delta","delta":"Hel"}\n\n'])])
    const response = await hear({ model: 'hear', stream: 'true' })
    expect(await response.text()).toContain('"error"')
    expect(await finished()).toMatchObject({
      ending: 'truncated',
      usage: { audioSeconds: 1, estimated: true },
      costNano: 1e5,
    })
  })

  it.each([
    [
      'no file',
      {
        method: 'POST',
        body: (() => {
          const data = new FormData()
          data.set('model', 'hear')
          return data
        })(),
      },
      400,
    ],
    ['no form', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }, 415],
    [
      'a form without its end',
      {
        method: 'POST',
        body: '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nhear',
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      },
      400,
    ],
    [
      'a form without a boundary',
      { method: 'POST', body: 'x', headers: { 'content-type': 'multipart/form-data' } },
      400,
    ],
  ])('with %s is a clear error', async (_, init, status) => {
    const response = await gateway.fetch('/v1/audio/transcriptions', init as RequestInit)
    expect(response.status).toBe(status)
    expect(await response.json()).toHaveProperty('error.message')
  })
})

describe('rerank', () => {
  it.each(['/v1/rerank', '/rerank', '/v2/rerank'])('answers at %s', async (to) => {
    await upstream.script(path('rank'), [json(200, { results: [{ index: 1, relevance_score: 0.9 }] })])
    const response = await post(to, { model: 'rank', query: 'q', documents: ['a', 'b'], top_n: 1 })
    expect(await response.json()).toEqual({ results: [{ index: 1, relevance_score: 0.9 }] })
    expect(await finished()).toMatchObject({ mode: 'rerank', usage: { rerankUnits: 1 } })
  })
})

describe('a model', () => {
  it('is not asked for what its operator did not mean it for', async () => {
    const other = await startGateway(
      `model_list:\n  - model_name: only-embeds\n    gateway_params: { model: openai-compatible/x, api_base: "${upstream.url}/v1" }\n    model_info: { mode: embedding }\n`,
    )
    const response = await other.chat({ model: 'only-embeds', messages: [{ role: 'user', content: 'x' }] })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param: 'model', code: 'unsupported_mode' } })
    await other.close()
  })
})
