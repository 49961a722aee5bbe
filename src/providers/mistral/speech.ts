import { base64Bytes } from '../../lib/bytes/base64.ts'
import { GatewayError } from '../../lib/errors.ts'
import { asText, entryOf, parseRecord } from '../../lib/json/lenient.ts'
import type { SpeechRequest } from '../../modes/audio-speech.ts'
import { openaiFailure } from '../openai/failure.ts'
import type { Adapter } from '../provider.ts'
import { ownSpeechOptions, voiceOf } from '../wire/speech-options.ts'
import { unsupported } from '../wire/unsupported-fields.ts'

const API = "Mistral's text to speech"

/** The formats by their public name. Its `pcm` has other samples than the public one. */
const TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  flac: 'audio/flac',
  wav: 'audio/wav',
}

/** Speech, which comes as base64 in JSON. The vendor's own options (`ref_audio`, `expressiveness` …) are forwarded. */
export const mistralSpeech: Adapter<SpeechRequest> = {
  request({ body }, connection) {
    const { speed, ...own } = ownSpeechOptions(body, API)
    if (speed != null && speed !== 1) throw unsupported('speed', API)
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/audio/speech`,
      headers: connection.headers,
      body: JSON.stringify({
        voice_id: voiceOf(body, connection.defaults),
        ...own,
        model: connection.model,
        input: body.input,
        response_format: formatOf(body),
      }),
    }
  },
  reply(bytes, _headers, { body }) {
    const sound = base64Bytes(asText(parseRecord(bytes)?.audio_data))
    if (sound.byteLength === 0) throw new GatewayError('upstream_malformed', "The provider's answer is not a sound.")
    const contentType = TYPES[formatOf(body)] ?? ''
    return { bytes: sound, contentType, usage: undefined, outputCharacters: sound.byteLength }
  },
  failure: openaiFailure,
}

function formatOf({ response_format }: SpeechRequest): string {
  const format = response_format ?? 'mp3'
  if (entryOf(TYPES, format)) return format
  throw unsupported('response_format', API, `Ask for one of ${Object.keys(TYPES).join(', ')}.`)
}
