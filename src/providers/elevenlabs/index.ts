import { adapterFor, type Provider } from '../provider.ts'
import { keyConnection } from '../wire/connection/key-connection.ts'
import { lookAt } from '../wire/connection/look-at.ts'
import { elevenlabsSpeech } from './speech.ts'
import { elevenlabsTranscription } from './transcription.ts'

const vendor = { apiBase: 'https://api.elevenlabs.io', header: 'xi-api-key' }

export const elevenlabs: Provider = {
  kind: 'elevenlabs',
  connect: (parameters, defaults) => keyConnection(vendor, parameters, defaults),
  look: lookAt('/v1/models'),
  adapters: { audio_speech: adapterFor(elevenlabsSpeech), audio_transcription: adapterFor(elevenlabsTranscription) },
}
