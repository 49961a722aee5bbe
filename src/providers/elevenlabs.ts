import { elevenlabsSpeech } from './elevenlabs/speech.ts'
import { elevenlabsTranscription } from './elevenlabs/transcription.ts'
import { keyConnection } from './key-connection.ts'
import { lookAt } from './look-at.ts'
import { adapterFor, type Provider } from './provider.ts'

const vendor = { apiBase: 'https://api.elevenlabs.io', header: 'xi-api-key' }

export const elevenlabs: Provider = {
  kind: 'elevenlabs',
  connect: (parameters, defaults) => keyConnection(vendor, parameters, defaults),
  look: lookAt('/v1/models'),
  adapters: { audio_speech: adapterFor(elevenlabsSpeech), audio_transcription: adapterFor(elevenlabsTranscription) },
}
