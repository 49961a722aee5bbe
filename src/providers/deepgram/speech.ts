import { GatewayError } from '../../lib/errors.ts'
import { entryOf } from '../../lib/json/lenient.ts'
import type { SpeechRequest } from '../../modes/audio-speech.ts'
import type { Adapter } from '../provider.ts'
import { ownSpeechOptions, voiceOf } from '../wire/speech-options.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { deepgramFailure } from './failure.ts'
import { queryOptions } from './query-options.ts'

const API = "Deepgram's text to speech"

/** The formats by public name. `pcm` has no header and, like `wav`, the sample rate of the public shape. */
const FORMATS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  mp3: { encoding: 'mp3' },
  opus: { encoding: 'opus', container: 'ogg' },
  aac: { encoding: 'aac' },
  flac: { encoding: 'flac' },
  wav: { encoding: 'linear16', container: 'wav', sample_rate: '24000' },
  pcm: { encoding: 'linear16', container: 'none', sample_rate: '24000' },
}

/** Speech: everything but the text is in the address; the audio is relayed unparsed. */
export const deepgramSpeech: Adapter<SpeechRequest> = {
  unparsed: true,
  request({ body }, connection) {
    const { input, response_format, language } = body
    const voice = voiceOf(body, connection.defaults)
    const query = new URLSearchParams({
      model: modelOf(connection.model, voice, typeof language === 'string' ? language : undefined),
      ...formatOf(response_format ?? 'mp3'),
    })
    const options = queryOptions(ownSpeechOptions(body, API), API)
    for (const [name] of options) query.delete(name)
    for (const [name, value] of options) query.append(name, value)
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/v1/speak?${query}`,
      headers: { ...connection.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ text: input }),
    }
  },
  reply: () => {
    throw new GatewayError('upstream_malformed', "The provider's answer is not a sound.")
  },
  failure: deepgramFailure,
}

/** A model name is a family, a voice and a language: `aura-2-thalia-en`. The operator names at least the family, and the
 *  client's voice has to belong to it, because other families have other prices. */
function modelOf(model: string, voice: string | undefined, language: string | undefined): string {
  const { family, language: own } = partsOf(model)
  if (voice === undefined) {
    if (model !== family) return model
    const message = "voice: name a voice; this deployment has no 'model_info.default_params.voice_id'"
    throw new GatewayError('invalid_request', message, { param: 'voice' })
  }
  const named = partsOf(voice)
  // `2-thalia` would change the family from `aura` to `aura-2`, which has another price.
  if (/^[a-z]+$/i.test(voice)) return `${family}-${voice}-${language ?? own ?? 'en'}`
  if (named.family === family && voice !== family) return voice
  throw new GatewayError('invalid_request', `voice: must be a voice of '${family}'`, { param: 'voice' })
}

function partsOf(model: string): { readonly family: string; readonly language: string | undefined } {
  const match = /^([a-z]+(?:-\d+)?)(?:-[a-z]+-([a-z]{2}))?$/i.exec(model)
  return { family: match?.[1] ?? model, language: match?.[2] }
}

function formatOf(asked: string): Readonly<Record<string, string>> {
  const format = entryOf(FORMATS, asked)
  if (format) return format
  throw unsupported('response_format', API, `Ask for one of ${Object.keys(FORMATS).join(', ')}.`)
}
