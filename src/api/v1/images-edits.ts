import { imageEdit, imageEditByReference, imageVariation } from '../../modes/image-edit.ts'
import { asMode } from '../../modes/mode.ts'
import { chatErrorEvent } from '../failures.ts'
import { modelRoute } from './model-route.ts'

export const imagesEdits = modelRoute(
  { path: '/v1/images/edits', mode: asMode(imageEdit), errorEvent: chatErrorEvent },
  {
    summary: 'Make images from images and a text.',
    responses: {
      200: {
        description: 'The images; server-sent events when `stream` is true.',
        contentType: ['application/json', 'text/event-stream'],
      },
    },
  },
  { path: '/v1/images/edits', mode: asMode(imageEditByReference), errorEvent: chatErrorEvent },
)

export const imagesVariations = modelRoute(
  { path: '/v1/images/variations', mode: asMode(imageVariation), errorEvent: chatErrorEvent },
  {
    summary: 'Make variations of an image.',
    responses: { 200: { description: 'The images.', contentType: 'application/json' } },
  },
)
