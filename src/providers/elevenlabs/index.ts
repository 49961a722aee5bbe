import { asText } from '../../lib/json/lenient.ts'
import { adapterFor, type Provider } from '../provider.ts'
import { healthRequestAt } from '../wire/connection/health-request.ts'
import { keyConnection } from '../wire/connection/key-connection.ts'
import { listingAt } from '../wire/connection/model-listing.ts'
import { elevenlabsSpeech, elevenlabsTextToSpeech } from './speech.ts'
import { elevenlabsSpeechToText, elevenlabsTranscription } from './transcription.ts'

const vendor = { apiBase: 'https://api.elevenlabs.io', header: 'xi-api-key' }

const models = listingAt('/v1/models', 'models', ({ model_id, name, can_do_text_to_speech }) => ({
  id: asText(model_id),
  name: asText(name) || undefined,
  mode: can_do_text_to_speech === true ? 'audio_speech' : undefined,
}))

export const elevenlabs: Provider = {
  kind: 'elevenlabs',
  profile: { label: 'ElevenLabs', address: vendor.apiBase, credentials: [['api_key']] },
  listings: () => [models],
  connect: (parameters, defaults) => keyConnection(vendor, parameters, defaults),
  healthRequest: healthRequestAt('/v1/models'),
  adapters: {
    audio_speech: adapterFor(elevenlabsSpeech),
    text_to_speech: adapterFor(elevenlabsTextToSpeech),
    audio_transcription: adapterFor(elevenlabsTranscription),
    speech_to_text: adapterFor(elevenlabsSpeechToText),
  },
}
