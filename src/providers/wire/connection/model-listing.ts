import { asList, asRecord, asText } from '../../../lib/json/lenient.ts'
import type { ListedModel, Listing } from '../../provider.ts'
import { healthRequestAt } from './health-request.ts'

/** A listing that reads one path of the vendor's API: a list, or an object that has it as a member. `modelOf` returns
 *  undefined for what is no model to call. */
export function listingAt(
  path: string,
  member: string,
  modelOf: (entry: Readonly<Record<string, unknown>>) => ListedModel | undefined,
): Listing {
  return {
    request: healthRequestAt(path),
    read(body) {
      const entries = Array.isArray(body) ? body : asList(asRecord(body)[member])
      return entries.flatMap((entry) => {
        const model = modelOf(asRecord(entry))
        return model && model.id !== '' ? [model] : []
      })
    },
  }
}

/** OpenAI's list, as most vendors write it. Some add a name or the kind of model. */
export const openaiListing: Listing = listingAt('/models', 'data', ({ id, name, display_name, type }) => ({
  id: asText(id),
  name: asText(display_name) || asText(name) || undefined,
  mode: MODES[asText(type)],
}))

const MODES: Readonly<Record<string, ListedModel['mode']>> = {
  chat: 'chat',
  embedding: 'embedding',
  image: 'image_generation',
  rerank: 'rerank',
  transcribe: 'audio_transcription',
}
