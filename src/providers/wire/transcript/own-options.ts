import type { JsonRecord } from '../../../lib/json/lenient.ts'
import type { TranscriptionRequest } from '../../../modes/audio-transcription.ts'
import { unsupported } from '../unsupported-fields.ts'

/** Public options that only OpenAI supports. */
const PUBLIC = ['include', 'known_speaker_names', 'known_speaker_references', 'prompt'] as const

/** The vendor's own options of a request: every field that the public shape does not have. Refuses public options that the
 *  vendor's API cannot express, and `more` of its own, instead of dropping them. */
export function ownTranscriptionOptions(
  request: TranscriptionRequest,
  api: string,
  more: readonly string[] = [],
): JsonRecord {
  if (request.stream === true) throw unsupported('stream', api)
  for (const field of [...PUBLIC, ...more]) {
    const value = request[field]
    if (value === undefined || value === null || value === '' || value === 'false' || value === false) continue
    throw unsupported(field, api)
  }
  // `auto` leaves the cuts to the vendor.
  const chunking = request.chunking_strategy ?? 'auto'
  if (chunking !== 'auto') throw unsupported('chunking_strategy', api)
  const {
    model: _model,
    file: _file,
    language: _language,
    response_format: _format,
    temperature: _temperature,
    prompt: _prompt,
    stream: _stream,
    timestamp_granularities: _granularities,
    chunking_strategy: _chunking,
    include: _include,
    metadata: _metadata,
    ...own
  } = request
  return own
}
