import { describe, expect, inject, it } from 'vitest'
import { chatInit } from '../support/gateway.ts'
import { bodyOf } from '../support/upstream/call.ts'
import { cutAfter, htmlPage, json, raw } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/voices-${run}-${name}`

const deployment = (name: string, model: string, more = '') => `  - model_name: ${name}
    deployment_id: ${name}
    gateway_params: { model: ${model}, api_base: "${upstream.url}${path(name)}", api_key: canary-of-the-vendor }
    model_info: { cost_per_character: 0.00003${more} }
`

const gateway = withGateway(
  () => `router_settings: { cooldown_time: 60, num_retries: 1 }
model_list:
${deployment('eleven', 'elevenlabs/eleven_v3', ', default_params: { voice_id: default-voice }')}
${deployment('mute', 'elevenlabs/eleven_v3')}
${deployment('scribe', 'elevenlabs/scribe_v2')}
${deployment('aura', 'deepgram/aura-2')}
${deployment('nova', 'deepgram/nova-3')}
${deployment('voxtral', 'mistral/voxtral-mini-2602')}`,
)

const SOUND = '\u0000\u0001ID3-sound-'.repeat(500)
const say = (model: string, more: object = {}) =>
  gateway.fetch('/v1/audio/speech', chatInit({ model, input: 'Grüße!', ...more }))
const recording = new Uint8Array([1, 13, 10, 45, 45, 255, 0])
const hear = (model: string, fields: readonly (readonly [string, string])[] = []) => {
  const data = new FormData()
  data.set('file', new File([recording], 'grüße.wav', { type: 'audio/wav' }))
  data.set('model', model)
  for (const [name, value] of fields) data.append(name, value)
  return gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body: data })
}
const last = async (name: string) => {
  const call = (await upstream.calls(path(name))).at(-1)
  if (!call) throw new TypeError('no call came')
  return call
}
const finished = async () => {
  await gateway.idle()
  return gateway.logs.filter(({ event }) => event === 'call.finished').at(-1)
}

describe('speech of ElevenLabs', () => {
  it('says the text in the voice of the request, else of the deployment, and passes the sound on', async () => {
    await upstream.script(path('eleven'), [raw(200, SOUND, { 'content-type': 'audio/mpeg' })])
    const response = await say('eleven', { voice: 'own-voice' })
    expect(response.headers.get('content-type')).toBe('audio/mpeg')
    expect(await response.text()).toBe(SOUND)
    const call = await last('eleven')
    expect(call.path).toBe(`${path('eleven')}/v1/text-to-speech/own-voice?output_format=mp3_44100_128`)
    expect(call.headers['xi-api-key']).toBe('canary-of-the-vendor')
    expect(call.headers.authorization).toBeUndefined()
    expect(bodyOf(call)).toEqual({ text: 'Grüße!', model_id: 'eleven_v3' })
    expect(await finished()).toMatchObject({
      provider: 'elevenlabs',
      ending: 'answered',
      usage: { characters: 6, estimated: false },
    })

    await (await say('eleven')).arrayBuffer()
    expect((await last('eleven')).path).toContain('/v1/text-to-speech/default-voice?')
    expect(bodyOf(await last('eleven'))).toEqual({ text: 'Grüße!', model_id: 'eleven_v3' })
  })

  it('stays on its path whatever a voice is called', async () => {
    await (await say('eleven', { voice: '../../x?y' })).arrayBuffer()
    expect((await last('eleven')).path).toContain('/v1/text-to-speech/..%2F..%2Fx%3Fy?')
  })

  it.each([
    ['voice', {}],
    ['voice', { voice: '..' }],
    ['response_format', { voice: 'v', response_format: 'flac' }],
    ['instructions', { voice: 'v', instructions: 'whisper' }],
  ])('is refused for its %s before anybody is asked, and nobody is blamed', async (param, more) => {
    const response = await say('mute', more)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param } })
    expect(await upstream.calls(path('mute'))).toEqual([])
    await gateway.idle()
    const [signals] = await gateway.store.signals(['mute'])
    expect(signals).toMatchObject({ failures: 0, cooledUntil: 0, active: 0 })
  })

  it('that fails is told in the one error shape', async () => {
    const detail = { status: 'voice_not_found', message: 'A voice with that id was not found.' }
    await upstream.script(path('eleven'), [json(404, { detail })])
    const response = await say('eleven', { voice: 'nobody' })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: {
        message: detail.message,
        type: 'invalid_request_error',
        param: 'voice',
        code: 'voice_not_found',
      },
    })
    expect(await finished()).toMatchObject({ ending: 'failed', status: 400, attempts: 1 })
  })

  it('that is a page with status 200 is no sound', async () => {
    await upstream.script(path('eleven'), [htmlPage(200), raw(200, SOUND, { 'content-type': 'audio/mpeg' })])
    const response = await say('eleven')
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(SOUND)
    expect(response.headers.get('x-gateway-attempts')).toBe('2')
  })
})

describe('transcription of ElevenLabs', () => {
  const answer = {
    language_code: 'deu',
    text: 'Grüße an alle. Ja!',
    words: [
      { text: 'Grüße an', start: 0.1, end: 0.7, type: 'word' },
      { text: ' ', start: 0.7, end: 0.8, type: 'spacing' },
      { text: 'alle.', start: 0.8, end: 1.3, type: 'word' },
      { text: ' ', start: 1.3, end: 1.4, type: 'spacing' },
      { text: 'Ja!', start: 1.4, end: 1.75, type: 'word' },
    ],
  }

  it('sends the recording in the vendor’s form, and answers in the public shape', async () => {
    await upstream.script(path('scribe'), [json(200, answer)])
    const response = await hear('scribe', [
      ['language', 'de'],
      ['temperature', '0.2'],
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word'],
      ['num_speakers', '2'],
      ['keyterms', 'a'],
      ['keyterms', 'b'],
    ])
    expect(await response.json()).toEqual({
      task: 'transcribe',
      language: 'deu',
      duration: 1.75,
      text: 'Grüße an alle. Ja!',
      words: [
        { word: 'Grüße an', start: 0.1, end: 0.7 },
        { word: 'alle.', start: 0.8, end: 1.3 },
        { word: 'Ja!', start: 1.4, end: 1.75 },
      ],
      usage: { type: 'duration', seconds: 1.75 },
    })
    const call = await last('scribe')
    expect(call.path).toBe(`${path('scribe')}/v1/speech-to-text`)
    const form = await new Response(call.body as BodyInit, {
      headers: { 'content-type': call.headers['content-type'] ?? '' },
    }).formData()
    expect([...form].filter(([, value]) => typeof value === 'string').sort()).toEqual([
      ['keyterms', 'a'],
      ['keyterms', 'b'],
      ['language_code', 'de'],
      ['model_id', 'scribe_v2'],
      ['num_speakers', '2'],
      ['temperature', '0.2'],
      ['timestamps_granularity', 'word'],
    ])
    const file = form.get('file') as File
    expect([file.name, file.type]).toEqual(['grüße.wav', 'audio/wav'])
    expect([...new Uint8Array(await file.arrayBuffer())]).toEqual([...recording])
    // Key terms cost a fifth more.
    expect(await finished()).toMatchObject({ mode: 'audio_transcription', usage: { audioSeconds: 2.1 } })
  })

  it.each([
    ['json', '{"text":"Grüße an alle. Ja!","usage":{"type":"duration","seconds":1.75}}', 'application/json'],
    ['text', 'Grüße an alle. Ja!\n', 'text/plain; charset=utf-8'],
    [
      'srt',
      '1\n00:00:00,100 --> 00:00:01,300\nGrüße an alle.\n\n2\n00:00:01,400 --> 00:00:01,750\nJa!\n\n',
      'text/plain; charset=utf-8',
    ],
    [
      'vtt',
      'WEBVTT\n\n00:00:00.100 --> 00:00:01.300\nGrüße an alle.\n\n00:00:01.400 --> 00:00:01.750\nJa!\n\n',
      'text/vtt; charset=utf-8',
    ],
  ])('answers as %s', async (format, text, type) => {
    const response = await hear('scribe', [['response_format', format]])
    expect(response.headers.get('content-type')).toBe(type)
    expect(await response.text()).toBe(text)
  })

  it('is refused for what it cannot be told', async () => {
    const before = (await upstream.calls(path('scribe'))).length
    for (const [name, value] of [
      ['prompt', 'Names: Zoë'],
      ['stream', 'true'],
    ] as const) {
      const response = await hear('scribe', [[name, value]])
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: { param: name } })
    }
    expect((await upstream.calls(path('scribe'))).length).toBe(before)
  })

  it('that is cut is a failure of the provider', async () => {
    await upstream.script(path('scribe'), [json(200, answer, {}, cutAfter({ bytes: 40, how: 'end' }))])
    expect((await hear('scribe')).status).toBe(502)
  })
})

describe('Deepgram', () => {
  it('says the text in a voice of the deployment’s family', async () => {
    await upstream.script(path('aura'), [raw(200, SOUND, { 'content-type': 'audio/wav' })])
    const response = await say('aura', { voice: 'thalia', response_format: 'wav' })
    expect(await response.text()).toBe(SOUND)
    const call = await last('aura')
    expect(call.path).toBe(
      `${path('aura')}/v1/speak?model=aura-2-thalia-en&encoding=linear16&container=wav&sample_rate=24000`,
    )
    expect(call.headers.authorization).toBe('Token canary-of-the-vendor')
    expect(bodyOf(call)).toEqual({ text: 'Grüße!' })
    expect(await finished()).toMatchObject({ provider: 'deepgram', usage: { characters: 6 } })
  })

  it('hears the recording as it is', async () => {
    const words = [{ word: 'hello', punctuated_word: 'Hello.', start: 0.25, end: 1, confidence: 1 }]
    const channels = [{ alternatives: [{ transcript: 'Hello.', confidence: 1, words }] }]
    await upstream.script(path('nova'), [
      json(200, { metadata: { duration: 2.5, channels: 1 }, results: { channels } }),
    ])
    const response = await hear('nova', [
      ['language', 'en'],
      ['response_format', 'srt'],
      // Hints that only OpenAI takes.
      ['keywords[]', 'Zoë'],
      ['languages[]', 'de'],
    ])
    expect(response.headers.get('x-gateway-dropped')).toBe('keywords, languages')
    expect(await response.text()).toBe('1\n00:00:00,250 --> 00:00:01,000\nHello.\n\n')
    const call = await last('nova')
    expect(call.path).toBe(`${path('nova')}/v1/listen?model=nova-3&smart_format=true&language=en`)
    expect(call.headers['content-type']).toBe('audio/wav')
    expect([...call.body]).toEqual([...recording])
    expect(await finished()).toMatchObject({ provider: 'deepgram', usage: { audioSeconds: 2.5 } })
  })

  it('that has no credits left is the operator’s to look at', async () => {
    await upstream.script(path('nova'), [json(402, { err_code: 'ASR_PAYMENT_REQUIRED', err_msg: 'No credits.' })])
    const response = await hear('nova')
    expect(response.status).toBe(502)
    expect(await response.text()).not.toContain('credits.')
  })
})

describe('transcription of Mistral', () => {
  it('is written in the format that was asked for, with times, which exclude a language', async () => {
    const segments = [
      { text: 'Grüße an alle.', start: 0.5, end: 1.3, type: 'transcription_segment' },
      { text: 'Ja!', start: 1.4, end: 1.75, type: 'transcription_segment' },
    ]
    const usage = { prompt_audio_seconds: 3, prompt_tokens: 4, completion_tokens: 9, total_tokens: 400 }
    const answer = { model: 'voxtral-mini-2602', text: 'Grüße an alle. Ja!', language: null, segments, usage }
    await upstream.script(path('voxtral'), [json(200, answer)])
    const response = await hear('voxtral', [
      ['response_format', 'vtt'],
      ['language', 'de'],
      ['context_bias', 'Zoë'],
    ])
    expect(response.headers.get('x-gateway-dropped')).toBe('language')
    expect(await response.text()).toBe(
      'WEBVTT\n\n00:00:00.500 --> 00:00:01.300\nGrüße an alle.\n\n00:00:01.400 --> 00:00:01.750\nJa!\n\n',
    )
    const call = await last('voxtral')
    expect(call.path).toBe(`${path('voxtral')}/audio/transcriptions`)
    const form = await new Response(call.body as BodyInit, {
      headers: { 'content-type': call.headers['content-type'] ?? '' },
    }).formData()
    expect([...form].filter(([, value]) => typeof value === 'string').sort()).toEqual([
      ['context_bias', 'Zoë'],
      ['model', 'voxtral-mini-2602'],
      ['timestamp_granularities', 'segment'],
    ])
    expect(await finished()).toMatchObject({ usage: { audioSeconds: 3, inputTokens: 4, outputTokens: 9 } })
  })

  it('is refused for the name of another recording', async () => {
    const response = await hear('voxtral', [['file_id', 'f-1']])
    expect(await response.json()).toMatchObject({ error: { param: 'file_id' } })
  })
})

it('says nowhere what the vendors’ keys are', async () => {
  await gateway.idle()
  expect(JSON.stringify(gateway.logs)).not.toContain('canary-of-the-vendor')
})
