import type { TranscriptionRequest } from '../../../modes/audio-transcription.ts'
import { unsupported } from '../unsupported-fields.ts'

/** Public options that only OpenAI supports. */
const PUBLIC = ['include', 'known_speaker_names', 'known_speaker_references'] as const

/** Refuses options that the vendor's API cannot express, instead of dropping them. */
export function refuseUnsupportedOptions(request: TranscriptionRequest, api: string, more: readonly string[]): void {
  if (request.stream === true) throw unsupported('stream', api)
  for (const field of [...PUBLIC, ...more]) {
    const value = request[field]
    if (value === undefined || value === null || value === '' || value === 'false' || value === false) continue
    throw unsupported(field, api)
  }
  // `auto` leaves the cuts to the vendor.
  const chunking = request.chunking_strategy ?? 'auto'
  if (chunking !== 'auto') throw unsupported('chunking_strategy', api)
}
