import { adapterFor, type Provider } from '../provider.ts'
import { healthRequestAt } from '../wire/connection/health-request.ts'
import { keyConnection } from '../wire/connection/key-connection.ts'
import { deepgramSpeech } from './speech.ts'
import { deepgramTranscription } from './transcription.ts'

const vendor = { apiBase: 'https://api.deepgram.com', header: 'authorization', scheme: 'Token ' }

export const deepgram: Provider = {
  kind: 'deepgram',
  connect: (parameters, defaults) => keyConnection(vendor, parameters, defaults),
  healthRequest: healthRequestAt('/v1/projects'),
  adapters: { audio_speech: adapterFor(deepgramSpeech), audio_transcription: adapterFor(deepgramTranscription) },
}
