import { describe, expect, inject, it } from 'vitest'
import { chatInit } from '../support/gateway.ts'
import { frames, json, raw } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/image-edits-${run}-${name}`
const LIMIT = 400_000

const gateway = withGateway(() => {
  const entry = (name: string, info: string) => `  - model_name: ${name}
    gateway_params: { model: openai-compatible/up-${name}, api_base: "${upstream.url}${path(name)}/v1", api_key: sk-canary }
    model_info: ${info}
`
  return `general_settings: { max_upload_bytes: ${LIMIT} }
router_settings: { cooldown_time: 0, num_retries: 1, retry_after: 0.01 }
model_list:
${entry('painter', '{ mode: image_generation, input_cost_per_token: 0.000005, input_cost_per_image_token: 0.00001, output_cost_per_token: 0.00004 }')}${entry('by-image', '{ mode: image_generation, cost_per_image: 0.02 }')}${entry('ear', '{ mode: audio_transcription, cost_per_audio_second: 0.0001 }')}${entry('judge', '{ mode: moderation, input_cost_per_token: 0.000001 }')}  - model_name: echo
    gateway_params: { model: echo/echo }
`
})

const PICTURE = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256)
const picture = (length = PICTURE.length) => new Blob([PICTURE.subarray(0, length)], { type: 'image/png' })

function form(fields: readonly (readonly [string, string | Blob])[]): RequestInit {
  const body = new FormData()
  for (const [name, value] of fields) {
    if (typeof value === 'string') body.append(name, value)
    else body.append(name, value, `${name.replace('[]', '')}.png`)
  }
  return { method: 'POST', body }
}

async function lastForm(name: string): Promise<{ readonly path: string; readonly form: FormData }> {
  const call = (await upstream.calls(path(name))).at(-1)
  const headers = { 'content-type': call?.headers['content-type'] ?? '' }
  return { path: call?.path ?? '', form: await new Response(call?.body as BodyInit, { headers }).formData() }
}

const finished = async () => {
  await gateway.idle()
  return gateway.logs.filter(({ event }) => event === 'call.finished').at(-1)
}

describe('edits of images', () => {
  it('reach the provider as they were sent, and are billed by its kinds of tokens', async () => {
    const usage = {
      input_tokens: 300,
      output_tokens: 1000,
      input_tokens_details: { text_tokens: 100, image_tokens: 200 },
    }
    const answer = { created: 1, data: [{ b64_json: 'AA' }], size: '1024x1024', quality: 'low', usage }
    await upstream.script(path('painter'), [json(200, answer)])
    // The official clients send the fields in the order of their callers: here the images first.
    const response = await gateway.fetch(
      '/v1/images/edits',
      form([
        ['image[]', picture()],
        ['image[]', picture(10)],
        ['mask', picture(20)],
        ['prompt', 'A hat.'],
        ['model', 'painter'],
        ['n', '1'],
        ['quality', 'low'],
      ]),
    )
    expect(await response.json()).toEqual(answer)
    const { path: asked, form: sent } = await lastForm('painter')
    expect(asked).toBe(`${path('painter')}/v1/images/edits`)
    expect([...sent.keys()]).toEqual(['image[]', 'image[]', 'mask', 'prompt', 'model', 'n', 'quality'])
    expect(sent.get('model')).toBe('up-painter')
    expect(new Uint8Array(await (sent.get('image[]') as File).arrayBuffer())).toEqual(PICTURE)
    expect(await finished()).toMatchObject({
      endpoint: '/v1/images/edits',
      mode: 'image_generation',
      // 100 × 5 + 200 × 10 + 1,000 × 40 millionths of a dollar.
      costNano: 42_500_000,
      usage: { images: 1, imageInputTokens: 200, imageSize: 'low/1024x1024' },
    })
  })

  it('are streamed', async () => {
    const events = [
      'event: image_edit.partial_image\ndata: {"type":"image_edit.partial_image","b64_json":"A","partial_image_index":0}\n\n',
      'event: image_edit.completed\ndata: {"type":"image_edit.completed","b64_json":"AB","usage":{"input_tokens":3,"output_tokens":9}}\n\n',
    ]
    await upstream.script(path('painter'), [frames(events)])
    const fields = [
      ['image', picture()],
      ['model', 'painter'],
      ['prompt', 'A hat.'],
      ['stream', 'true'],
    ] as const
    const streamed = await gateway.fetch('/v1/images/edits', form(fields))
    expect(streamed.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(await streamed.text()).toBe(events.join(''))
    expect(await finished()).toMatchObject({ ending: 'answered', usage: { images: 1, outputTokens: 9 } })

    // A model that answers a streamed request in one piece.
    await upstream.script(path('painter'), [json(200, { created: 1, data: [{ b64_json: 'AA' }] })])
    const whole = await gateway.fetch('/v1/images/edits', form(fields))
    expect(await whole.text()).toMatch(
      /^event: image_edit.completed\ndata: {"type":"image_edit.completed","created_at":1,.*"b64_json":"AA"}\n\n$/,
    )
  })

  it('are asked again after a failure, with the same form', async () => {
    const failed = json(500, { error: { message: 'Once more.' } })
    await upstream.script(path('by-image'), [failed, json(200, { created: 1, data: [{ url: 'u' }, { url: 'v' }] })])
    const response = await gateway.fetch(
      '/v1/images/edits',
      form([
        ['image', picture()],
        ['prompt', 'A hat.'],
        ['n', '2'],
        ['model', 'by-image'],
      ]),
    )
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-attempts')).toBe('2')
    await response.text()
    expect((await lastForm('by-image')).form.get('image')).toMatchObject({ size: PICTURE.length })
    expect(await finished()).toMatchObject({ costNano: 40_000_000, usage: { images: 2 } })
  })

  it.each([
    ['without a prompt', [['image', picture(9)]], 400, { param: 'prompt' }],
    ['without an image', [['prompt', 'A hat.']], 400, { param: 'image' }],
    [
      'with a text as image',
      [
        ['image', 'x'],
        ['prompt', 'A hat.'],
      ],
      400,
      { param: 'image' },
    ],
    [
      'with a size that is none',
      [
        ['image', picture(9)],
        ['prompt', 'A'],
        ['size', 'big'],
      ],
      400,
      { param: 'size' },
    ],
    ['that are too long', Array.from({ length: 7 }, () => ['image[]', picture()]), 413, { code: 'payload_too_large' }],
  ] as const)('are refused %s', async (_, fields, status, error) => {
    const response = await gateway.fetch('/v1/images/edits', form([['model', 'painter'], ...(fields as [])]))
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error })
  })

  it('refer to their images in JSON', async () => {
    await upstream.script(path('painter'), [json(200, { created: 1, data: [{ b64_json: 'AA' }] })])
    const images = [{ image_url: 'https://x.example/a.png' }, { image_url: 'data:image/png;base64,AAAA' }]
    const asked = { prompt: 'A hat.', images, mask: { image_url: 'https://x.example/m.png' }, size: '1024x1024', n: 1 }
    const response = await gateway.fetch('/v1/images/edits', chatInit({ model: 'painter', ...asked }))
    expect([response.status, await response.json()]).toMatchObject([200, { data: [{ b64_json: 'AA' }] }])
    const call = (await upstream.calls(path('painter'))).at(-1)
    expect(call?.path).toBe(`${path('painter')}/v1/images/edits`)
    expect(JSON.parse(new TextDecoder().decode(call?.body))).toEqual({ model: 'up-painter', ...asked })
    expect(await finished()).toMatchObject({ endpoint: '/v1/images/edits', mode: 'image_generation' })
  })

  it.each([
    [{ images: [{ file_id: 'file-1' }] }, 'images.0'],
    [{ images: [{ image_url: 'https://x.example/a.png', file_id: 'file-1' }] }, 'images.0.file_id'],
    [{ images: [{ image_url: 'https://x.example/a.png' }], markup: { file_id: 'file-1' } }, 'markup'],
    [{ images: [] }, 'images'],
    [{}, 'images'],
  ])('in JSON are refused with %j', async (fields, param) => {
    const body = { model: 'painter', prompt: 'A hat.', ...fields }
    const response = await gateway.fetch('/v1/images/edits', chatInit(body))
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { param: expect.stringMatching(`^${param}`) } },
    ])
  })

  it('are refused by models that make no images, and as neither a form nor JSON', async () => {
    const fields = [
      ['image', picture(9)],
      ['prompt', 'A hat.'],
      ['model', 'echo'],
    ] as const
    const refused = await gateway.fetch('/v1/images/edits', form(fields))
    expect(await refused.json()).toMatchObject({ error: { code: 'unsupported_mode', param: 'model' } })
    const text = await gateway.fetch('/v1/images/edits', { method: 'POST', body: 'A hat.' })
    expect(text.status).toBe(415)
    for (const place of ['/v1/images/variations', '/v1/audio/translations']) {
      expect((await gateway.fetch(place, chatInit({ model: 'painter', prompt: 'A hat.' }))).status).toBe(415)
    }
  })
})

it('varies an image, at the price of its size', async () => {
  await upstream.script(path('by-image'), [json(200, { created: 1, data: [{ url: 'u' }] })])
  const response = await gateway.fetch(
    '/v1/images/variations',
    form([
      ['image', picture()],
      ['model', 'by-image'],
      ['size', '256x256'],
    ]),
  )
  expect(await response.json()).toMatchObject({ data: [{ url: 'u' }] })
  expect((await lastForm('by-image')).path).toBe(`${path('by-image')}/v1/images/variations`)
  expect(await finished()).toMatchObject({ costNano: 20_000_000, usage: { imageSize: '256x256' } })
})

it('translates a recording, billed by its seconds', async () => {
  const verbose = { task: 'translate', language: 'english', duration: 7, text: 'Hello', segments: [] }
  const ask = (format: string) =>
    gateway.fetch(
      '/v1/audio/translations',
      form([
        ['model', 'ear'],
        ['file', picture()],
        ['response_format', format],
      ]),
    )
  await upstream.script(path('ear'), [json(200, verbose)])
  expect(await (await ask('verbose_json')).json()).toEqual(verbose)
  expect((await lastForm('ear')).path).toBe(`${path('ear')}/v1/audio/translations`)
  expect(await finished()).toMatchObject({
    endpoint: '/v1/audio/translations',
    mode: 'audio_transcription',
    costNano: 700_000,
  })
  await upstream.script(path('ear'), [raw(200, 'Hello\n', { 'content-type': 'text/plain' })])
  expect(await (await ask('text')).text()).toBe('Hello\n')
  expect(await (await ask('diarized_json')).json()).toMatchObject({ error: { param: 'response_format' } })
})

it('judges texts and images, billed by their estimated tokens where none are reported', async () => {
  const verdict = {
    id: 'modr-1',
    model: 'up-judge',
    results: [{ flagged: false, categories: {}, category_scores: {} }],
  }
  await upstream.script(path('judge'), [json(200, verdict)])
  const image = { type: 'image_url', image_url: { url: 'https://images.test/1' } }
  const input = [{ type: 'text', text: 'x'.repeat(400) }, image]
  const response = await gateway.fetch('/v1/moderations', chatInit({ model: 'judge', input }))
  expect(await response.json()).toEqual(verdict)
  expect((await upstream.calls(path('judge'))).at(-1)).toMatchObject({ path: `${path('judge')}/v1/moderations` })
  expect(await finished()).toMatchObject({ mode: 'moderation', costNano: 101_000, usage: { estimated: true } })
  const wrong = await gateway.fetch('/v1/moderations', chatInit({ model: 'judge', input: 3 }))
  expect(await wrong.json()).toMatchObject({ error: { param: 'input' } })
})
