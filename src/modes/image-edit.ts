import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import { flag, formFile } from './form.ts'
import { imageGeneration, imageSize, madeTokens } from './image-generation.ts'
import type { Mode } from './mode.ts'
import { tokensOfCharacters } from './usage.ts'

const model = () => z.string().min(1).describe('Public model name, alias or route group.')
const count = () => z.coerce.number().int().min(1).nullish().describe('How many images.')

export const imageEditRequest = lazily(() =>
  z.looseObject({
    model: model(),
    image: z.union([formFile(), z.array(formFile()).min(1)]).describe('The image, or several as `image[]`.'),
    prompt: z.string().min(1).describe('What the image is to show.'),
    mask: formFile().nullish().describe('Where its pixels are transparent, the first image is edited.'),
    n: count(),
    size: imageSize(),
    quality: z.string().nullish(),
    stream: flag().nullish(),
  }),
)
export type ImageEditRequest = z.output<ReturnType<typeof imageEditRequest>>

export const imageVariationRequest = lazily(() =>
  z.looseObject({
    model: model(),
    image: formFile().describe('The image.'),
    n: count(),
    size: imageSize(),
  }),
)
export type ImageVariationRequest = z.output<ReturnType<typeof imageVariationRequest>>

const forms = { body: 'multipart', form: { file: 'image', whole: true } } as const

/** The tokens that models read of an image, at vendors that bill tokens. */
const IMAGE_TOKENS = 1750

/** Images made of images and a text. */
export const imageEdit: Mode<ImageEditRequest> = {
  ...(imageGeneration as unknown as Mode<ImageEditRequest>),
  ...forms,
  operation: 'image_edit',
  schema: imageEditRequest,
  unreported(request) {
    const images = [request.image, request.mask].flat().filter((file) => file != null).length
    const inputTokens = tokensOfCharacters(request.prompt.length) + IMAGE_TOKENS * images
    return { inputTokens, outputTokens: madeTokens(request) }
  },
}

/** Images like a given one. Vendors bill them by the image. */
export const imageVariation: Mode<ImageVariationRequest> = {
  ...(imageGeneration as unknown as Mode<ImageVariationRequest>),
  ...forms,
  operation: 'image_variation',
  schema: imageVariationRequest,
  unreported: ({ n }) => ({ inputTokens: IMAGE_TOKENS, outputTokens: madeTokens({ n }) }),
}
