import { audioTranscription } from '../../modes/audio-transcription.ts'
import { asMode } from '../../modes/mode.ts'
import { chatErrorEvent } from '../failures.ts'
import { modelRoute } from './model-route.ts'

export const audioTranscriptions = modelRoute(
  { path: '/v1/audio/transcriptions', mode: asMode(audioTranscription), errorEvent: chatErrorEvent },
  {
    summary: 'Turn a recording into text.',
    responses: {
      200: {
        description: 'The text, in the asked format.',
        contentType: ['application/json', 'text/plain', 'text/event-stream'],
      },
    },
  },
)
