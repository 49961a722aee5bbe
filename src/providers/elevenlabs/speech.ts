import { GatewayError } from '../../lib/errors.ts'
import { entryOf, isRecord } from '../../lib/json/lenient.ts'
import type { SpeechRequest } from '../../modes/audio-speech.ts'
import type { TextToSpeechRequest } from '../../modes/elevenlabs/text-to-speech.ts'
import type { Adapter } from '../provider.ts'
import { ownSpeechOptions, voiceOf } from '../wire/speech-options.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { elevenlabsFailure } from './failure.ts'

const API = "ElevenLabs' text to speech"

/** The formats by public name. `wav` and `pcm` have the sample rate of the public shape. */
const FORMATS: Readonly<Record<string, string>> = {
  mp3: 'mp3_44100_128',
  opus: 'opus_48000_128',
  pcm: 'pcm_24000',
  wav: 'wav_24000',
}
/** The vendor's own: codec, sample rate, bit rate. */
const NATIVE_FORMAT = /^(mp3|opus|pcm|wav|ulaw|alaw)_\d+(_\d+)?$/

/** Speech: the request is translated, and the audio is relayed unparsed. The vendor's own options (`seed`,
 *  `voice_settings`, `previous_text` …) are forwarded. */
export const elevenlabsSpeech = {
  unparsed: true,
  request({ body }, connection) {
    const { input, response_format, language } = body
    const own = ownSpeechOptions(body, API)
    // The vendor reads some of its options in the address.
    const { speed, voice_settings, enable_logging, optimize_streaming_latency, ...native } = own
    const query = new URLSearchParams({ output_format: outputFormat(response_format ?? 'mp3') })
    for (const [name, option] of Object.entries({ enable_logging, optimize_streaming_latency })) {
      if (option === undefined || option === null) continue
      if (typeof option === 'object') throw unsupported(name, API)
      query.set(name, String(option))
    }
    const voice = encodeURIComponent(voiceId(body, connection.defaults))
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/v1/text-to-speech/${voice}?${query}`,
      headers: { ...connection.headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...native,
        text: input,
        model_id: connection.model,
        ...(language == null ? {} : { language_code: language }),
        ...settings(voice_settings, speed),
      }),
    }
  },
  reply: () => {
    throw new GatewayError('upstream_malformed', "The provider's answer is not a sound.")
  },
  failure: elevenlabsFailure,
} satisfies Adapter<SpeechRequest>

/** The same in the vendor's own shape. */
export const elevenlabsTextToSpeech: Adapter<TextToSpeechRequest> = {
  ...elevenlabsSpeech,
  request({ body: { text: input, output_format: response_format, ...own }, ...call }, connection) {
    const body = { ...own, input, ...(response_format == null ? {} : { response_format }) }
    return elevenlabsSpeech.request({ ...call, form: undefined, body }, connection)
  },
}

/** The voice id. It becomes a segment of the path, so anything but one segment is refused. */
function voiceId(body: SpeechRequest, defaults: Readonly<Record<string, unknown>>): string {
  const voice = voiceOf(body, defaults)
  if (voice === undefined) {
    const message = "voice: name a voice id; this deployment has no 'model_info.default_params.voice_id'"
    throw new GatewayError('invalid_request', message, { param: 'voice' })
  }
  // Dot segments change the path even when escaped; a lone surrogate cannot be escaped.
  if (/^\.{1,2}$/.test(voice) || !voice.isWellFormed()) {
    throw new GatewayError('invalid_request', 'voice: must be the id of a voice', { param: 'voice' })
  }
  return voice
}

function outputFormat(asked: string): string {
  const format = entryOf(FORMATS, asked) ?? (NATIVE_FORMAT.test(asked) ? asked : undefined)
  if (format !== undefined) return format
  const names = Object.keys(FORMATS).join(', ')
  throw unsupported('response_format', API, `Ask for one of ${names}, or a format such as mp3_22050_32.`)
}

function settings(given: unknown, speed: unknown): object {
  if (speed == null) return given === undefined ? {} : { voice_settings: given }
  return { voice_settings: { ...(isRecord(given) ? given : {}), speed } }
}
