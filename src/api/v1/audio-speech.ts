import { audioSpeech as mode } from '../../modes/audio-speech.ts'
import { asMode } from '../../modes/mode.ts'
import { chatErrorEvent } from '../failures.ts'
import { modelRoute } from './model-route.ts'

export const audioSpeech = modelRoute(
  { path: '/v1/audio/speech', mode: asMode(mode), errorEvent: chatErrorEvent },
  { summary: 'Say a text.', responses: { 200: { description: 'The sound, as raw bytes.', contentType: 'audio/*' } } },
)
