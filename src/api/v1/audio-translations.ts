import { audioTranslation } from '../../modes/audio-translation.ts'
import { asMode } from '../../modes/mode.ts'
import { chatErrorEvent } from '../failures.ts'
import { modelRoute } from './model-route.ts'

export const audioTranslations = modelRoute(
  { path: '/v1/audio/translations', mode: asMode(audioTranslation), errorEvent: chatErrorEvent },
  {
    summary: 'Turn a recording into English text.',
    responses: {
      200: { description: 'The text, in the asked format.', contentType: ['application/json', 'text/plain'] },
    },
  },
)
