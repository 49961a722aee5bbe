import { describe, expect, inject, it } from 'vitest'
import { MASTER_KEY } from '../support/gateway.ts'
import { json, raw } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const path = (name: string) => `/elevenlabs-${run}-${name}`

const entry = (name: string, model: string, base: string, info: string) => `  - model_name: ${name}
    gateway_params: { model: ${model}, api_base: "${upstream.url}${path(name)}${base}", api_key: sk-canary }
    model_info: ${info}
`
const gateway = withGateway(
  () => `router_settings: { cooldown_time: 0 }
model_list:
${entry('eleven_multilingual_v2', 'elevenlabs/eleven_multilingual_v2', '', '{ cost_per_character: 0.001 }')}${entry('other', 'openai-compatible/tts-1', '/v1', '{ cost_per_character: 0.002, default_params: { instructions: Softly } }')}${entry('scribe', 'elevenlabs/scribe_v2', '', '{ cost_per_audio_second: 0.001 }')}${entry('whisper', 'openai-compatible/whisper-1', '/v1', '{ cost_per_audio_second: 0.001 }')}${entry('plain', 'openai-compatible/gpt-transcribe', '/v1', '{ cost_per_audio_second: 0.001 }')}`,
)

const key = { 'xi-api-key': MASTER_KEY, authorization: '' }
const say = (to: string, body: object, headers: Record<string, string> = key) =>
  gateway.fetch(to, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const sent = async (name: string) => {
  const call = (await upstream.calls(path(name))).at(-1)
  return { path: call?.path.slice(path(name).length), body: JSON.parse(new TextDecoder().decode(call?.body)) }
}
const sentForm = async (name: string) => {
  const call = (await upstream.calls(path(name))).at(-1)
  const headers = { 'content-type': call?.headers['content-type'] ?? '' }
  return new Response(call?.body as BodyInit, { headers }).formData()
}
const finished = async () => {
  await gateway.idle()
  return gateway.logs.filter(({ event }) => event === 'call.finished').at(-1)
}
const sound = raw(200, 'sound', { 'content-type': 'audio/mpeg' })

describe('text to speech', () => {
  it('reaches its own vendor with every setting, and the usual model where none is named', async () => {
    await upstream.script(path('eleven_multilingual_v2'), [sound])
    const response = await say('/v1/text-to-speech/voice-1/stream?output_format=mp3_22050_32&enable_logging=false', {
      text: 'Grüezi',
      language_code: 'de',
      seed: 7,
      voice_settings: { stability: 0.5, speed: 1.1 },
    })
    expect([response.status, await response.text()]).toEqual([200, 'sound'])
    expect(await sent('eleven_multilingual_v2')).toEqual({
      path: '/v1/text-to-speech/voice-1?output_format=mp3_22050_32&enable_logging=false',
      body: {
        text: 'Grüezi',
        model_id: 'eleven_multilingual_v2',
        language_code: 'de',
        seed: 7,
        voice_settings: { stability: 0.5, speed: 1.1 },
      },
    })
    expect(await finished()).toMatchObject({ endpoint: '/v1/audio/speech', mode: 'audio_speech', costNano: 6_000_000 })
  })

  it('is the speech of another vendor, in its words, with its defaults; hints are named', async () => {
    await upstream.script(path('other'), [sound])
    const response = await say('/text-to-speech/alloy', {
      model_id: 'other',
      text: 'Hello',
      previous_text: 'So:',
      voice_settings: { stability: 0.5, speed: 1.5 },
    })
    expect(await response.text()).toBe('sound')
    expect(response.headers.get('x-gateway-dropped')).toBe('previous_text, voice_settings')
    expect(await sent('other')).toEqual({
      path: '/v1/audio/speech',
      body: {
        ...{ model: 'tts-1', input: 'Hello', voice: 'alloy', response_format: 'mp3', speed: 1.5 },
        instructions: 'Softly',
      },
    })
    expect(await finished()).toMatchObject({ endpoint: '/v1/audio/speech', costNano: 10_000_000 })
  })

  it('is refused in the shape of its clients', async () => {
    const format = await say('/v1/text-to-speech/alloy?output_format=ulaw_8000', { model_id: 'other', text: 'Hello' })
    expect(format.status).toBe(400)
    expect(await format.json()).toMatchObject({ detail: { param: 'output_format', message: expect.any(String) } })
    const wrong = await say('/v1/text-to-speech/x', { text: 'x' }, { 'xi-api-key': 'sk-wrong', authorization: '' })
    expect(wrong.status).toBe(401)
    expect(await wrong.json()).toMatchObject({ detail: { status: 'invalid_api_key' } })
    const nothing = await say('/v1/text-to-speech/x', {})
    expect(await nothing.json()).toMatchObject({ detail: { param: 'text' } })
  })
})

describe('speech to text', () => {
  const ask = (model: string, fields: Readonly<Record<string, string>> = {}) => {
    const body = new FormData()
    body.append('model_id', model)
    body.append('file', new Blob(['sound']), 'a.wav')
    // The vendor's own client sends the options behind the file.
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    return gateway.fetch('/v1/speech-to-text', { method: 'POST', headers: key, body })
  }

  it('is answered by its own vendor in its own words', async () => {
    const answer = {
      ...{ language_code: 'eng', language_probability: 0.98, text: 'Hello', audio_duration_secs: 4 },
      words: [{ text: 'Hello', start: 0, end: 1, type: 'word', logprob: -0.1, speaker_id: 's1' }],
      transcription_id: 't-1',
    }
    await upstream.script(path('scribe'), [json(200, answer)])
    const response = await ask('scribe', { diarize: 'true', timestamps_granularity: 'character' })
    expect(await response.json()).toEqual(answer)
    const form = await sentForm('scribe')
    expect([...form.keys()].sort()).toEqual(['diarize', 'file', 'model_id', 'timestamps_granularity'])
    expect([form.get('model_id'), form.get('timestamps_granularity')]).toEqual(['scribe_v2', 'character'])
    expect(await finished()).toMatchObject({ endpoint: '/v1/audio/transcriptions', costNano: 4_000_000 })
  })

  it('is the transcription of another vendor, in the shape of this one', async () => {
    const words = [
      { word: 'Hello', start: 0, end: 0.5 },
      { word: 'you', start: 0.6, end: 1 },
    ]
    await upstream.script(path('whisper'), [
      json(200, { task: 'transcribe', language: 'english', duration: 2, text: 'Hello you', words }),
    ])
    const response = await ask('whisper', { language_code: 'en', tag_audio_events: 'true' })
    expect(await response.json()).toEqual({
      ...{ language_code: 'english', language_probability: 1, text: 'Hello you', audio_duration_secs: 2 },
      words: [
        { text: 'Hello', start: 0, end: 0.5, type: 'word', logprob: 0 },
        { text: ' ', start: 0.5, end: 0.6, type: 'spacing', logprob: 0 },
        { text: 'you', start: 0.6, end: 1, type: 'word', logprob: 0 },
      ],
    })
    const form = await sentForm('whisper')
    expect(Object.fromEntries([...form].filter(([name]) => name !== 'file'))).toEqual({
      ...{ model: 'whisper-1', response_format: 'verbose_json', language: 'en' },
      'timestamp_granularities[]': 'word',
    })
    expect(await finished()).toMatchObject({ costNano: 2_000_000 })
  })

  it('comes without words from a model that tells none', async () => {
    await upstream.script(path('plain'), [json(200, { text: 'Hello' })])
    const response = await ask('plain')
    expect(await response.json()).toMatchObject({ text: 'Hello', words: [] })
    expect((await sentForm('plain')).get('response_format')).toBe('json')
  })

  it('of several speakers is refused where they cannot be told apart', async () => {
    const response = await ask('whisper', { diarize: 'true' })
    expect([response.status, await response.json()]).toMatchObject([400, { detail: { param: 'diarize' } }])
  })
})
