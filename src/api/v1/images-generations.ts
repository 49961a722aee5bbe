import { imageGeneration } from '../../modes/image-generation.ts'
import { asMode } from '../../modes/mode.ts'
import { chatErrorEvent } from '../failures.ts'
import { modelRoute } from './model-route.ts'

export const imagesGenerations = modelRoute(
  { path: '/v1/images/generations', mode: asMode(imageGeneration), errorEvent: chatErrorEvent },
  {
    summary: 'Make images from a text.',
    responses: {
      200: {
        description: 'The images; server-sent events when `stream` is true.',
        contentType: ['application/json', 'text/event-stream'],
      },
    },
  },
)
