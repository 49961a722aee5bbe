import { adapterFor, type Provider } from '../provider.ts'
import { healthRequestAt } from '../wire/connection/health-request.ts'
import { keyConnection } from '../wire/connection/key-connection.ts'
import { elevenlabsSpeech } from './speech.ts'
import { elevenlabsTranscription } from './transcription.ts'

const vendor = { apiBase: 'https://api.elevenlabs.io', header: 'xi-api-key' }

export const elevenlabs: Provider = {
  kind: 'elevenlabs',
  connect: (parameters, defaults) => keyConnection(vendor, parameters, defaults),
  healthRequest: healthRequestAt('/v1/models'),
  adapters: { audio_speech: adapterFor(elevenlabsSpeech), audio_transcription: adapterFor(elevenlabsTranscription) },
}
