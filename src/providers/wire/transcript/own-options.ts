import type { JsonRecord } from '../../../lib/json/lenient.ts'
import type { TranscriptionRequest } from '../../../modes/audio-transcription.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { unsupported } from '../unsupported-fields.ts'

/** Public options that only OpenAI supports. */
const PUBLIC = ['include', 'known_speaker_names', 'known_speaker_references', 'prompt'] as const
/** Public hints that only OpenAI takes under these names. */
const HINTS = ['keywords', 'languages'] as const

interface Options {
  readonly drop: Drop
  /** More options that its API cannot express. */
  readonly refused?: readonly string[]
  /** Options of its own that have the name of a public hint. */
  readonly kept?: readonly string[]
}

/** The vendor's own options of a request: every field that the public shape does not have. Drops public hints, and refuses
 *  public options that the vendor's API cannot express instead of dropping them. */
export function ownTranscriptionOptions(
  request: TranscriptionRequest,
  api: string,
  { drop, refused = [], kept = [] }: Options,
): JsonRecord {
  if (request.stream === true) throw unsupported('stream', api)
  for (const field of [...PUBLIC, ...refused]) {
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
  for (const hint of HINTS) {
    if (own[hint] == null || kept.includes(hint)) continue
    drop(hint)
    own[hint] = undefined
  }
  return own
}
