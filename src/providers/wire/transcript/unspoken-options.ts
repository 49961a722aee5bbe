import type { TranscriptionRequest } from '../../../modes/audio-transcription.ts'
import { unspoken } from '../unspoken-fields.ts'

/** Public options that no vendor of another shape has words for. */
const PUBLIC = ['include', 'known_speaker_names', 'known_speaker_references'] as const

/** Refuses what a vendor that is asked for a whole transcript cannot be told: nothing is dropped in silence. */
export function refuseForTranscription(request: TranscriptionRequest, api: string, more: readonly string[]): void {
  if (request.stream === true) throw unspoken('stream', api)
  for (const field of [...PUBLIC, ...more]) {
    const value = request[field]
    if (value === undefined || value === null || value === '' || value === 'false' || value === false) continue
    throw unspoken(field, api)
  }
  // How the recording is cut is left to the vendor: that is what `auto` says.
  const chunking = request.chunking_strategy ?? 'auto'
  if (chunking !== 'auto') throw unspoken('chunking_strategy', api)
}
