import type { JsonRecord } from '../../lib/json/lenient.ts'
import type { SpeechRequest } from '../../modes/audio-speech.ts'
import { unsupported } from './unsupported-fields.ts'

/** The voice that a request names, else the deployment's default. */
export function voiceOf({ voice }: SpeechRequest, defaults: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof voice === 'string') return voice
  if (voice) return voice.id
  return typeof defaults.voice_id === 'string' && defaults.voice_id !== '' ? defaults.voice_id : undefined
}

/** The vendor's own options of a request: every field that the public shape does not have, and `speed`. Refuses public
 *  fields that no other vendor than OpenAI can express. */
export function ownSpeechOptions(body: SpeechRequest, api: string): JsonRecord {
  const {
    model: _model,
    input: _input,
    voice: _voice,
    response_format: _format,
    instructions,
    stream: _stream,
    stream_format,
    language: _language,
    metadata: _metadata,
    user: _user,
    ...own
  } = body
  if (instructions) throw unsupported('instructions', api)
  if (stream_format && stream_format !== 'audio') throw unsupported('stream_format', api)
  return own
}
