import { asText } from '../../lib/json/lenient.ts'
import { adapterFor, type Provider } from '../provider.ts'
import { healthRequestAt } from '../wire/connection/health-request.ts'
import { keyConnection } from '../wire/connection/key-connection.ts'
import { listingAt } from '../wire/connection/model-listing.ts'
import { deepgramSpeech } from './speech.ts'
import { deepgramTranscription } from './transcription.ts'

const vendor = { apiBase: 'https://api.deepgram.com', header: 'authorization', scheme: 'Token ' }

const modelsFor = (member: string, mode: 'audio_speech' | 'audio_transcription') =>
  listingAt('/v1/models', member, ({ canonical_name, name }) => ({
    id: asText(canonical_name),
    name: asText(name) || undefined,
    mode,
  }))

export const deepgram: Provider = {
  kind: 'deepgram',
  profile: { label: 'Deepgram', address: vendor.apiBase, credentials: [['api_key']] },
  listings: () => [modelsFor('tts', 'audio_speech'), modelsFor('stt', 'audio_transcription')],
  connect: (parameters, defaults) => keyConnection(vendor, parameters, defaults),
  healthRequest: healthRequestAt('/v1/projects'),
  adapters: { audio_speech: adapterFor(deepgramSpeech), audio_transcription: adapterFor(deepgramTranscription) },
}
