import { deepgramSpeech } from './deepgram/speech.ts'
import { deepgramTranscription } from './deepgram/transcription.ts'
import { keyConnection } from './key-connection.ts'
import { lookAt } from './look-at.ts'
import { adapterFor, type Provider } from './provider.ts'

const vendor = { apiBase: 'https://api.deepgram.com', header: 'authorization', scheme: 'Token ' }

export const deepgram: Provider = {
  kind: 'deepgram',
  connect: (parameters, defaults) => keyConnection(vendor, parameters, defaults),
  look: lookAt('/v1/projects'),
  adapters: { audio_speech: adapterFor(deepgramSpeech), audio_transcription: adapterFor(deepgramTranscription) },
}
