import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import { flag, formFile } from './form.ts'
import { imageGeneration, imageRequest, imageSize, madeTokens } from './image-generation.ts'
import type { Mode } from './mode.ts'
import { tokensOfCharacters } from './usage.ts'

const model = () => z.string().min(1).describe('Public model name, alias or route group.')
const count = () => z.coerce.number().int().min(1).nullish().describe('How many images.')

const imageEditRequest = lazily(() =>
  z.looseObject({
    model: model(),
    image: z.union([formFile(), z.array(formFile()).min(1)]).describe('The image, or several as `image[]`.'),
    prompt: z.string().min(1).describe('What the image is to show.'),
    mask: formFile().nullish().describe('Where its pixels are transparent, the first image is edited.'),
    markup: formFile().nullish().describe('Drawn over the first image, it shows what to edit.'),
    n: count(),
    size: imageSize(),
    quality: z.string().nullish(),
    stream: flag().nullish(),
  }),
)
export type ImageEditRequest = z.output<ReturnType<typeof imageEditRequest>>

/** An image by its address, or its bytes as one. A file that the provider keeps would be any client's. */
const imageReference = () =>
  z.looseObject({
    image_url: z.string().min(1).describe('The address of the image, or a data: address with base64.'),
    file_id: z.null({ error: 'names a file of the provider: send image_url' }).optional(),
  })

/** The same request without files, which refers to its images. */
const imageEditReferences = lazily(() =>
  imageRequest().extend({
    images: z.array(imageReference()).min(1).describe('The images.'),
    mask: imageReference().nullish().describe('Where its pixels are transparent, the first image is edited.'),
    markup: imageReference().nullish().describe('Drawn over the first image, it shows what to edit.'),
  }),
)
type ImageEditReferences = z.output<ReturnType<typeof imageEditReferences>>

const imageVariationRequest = lazily(() =>
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
  ...imageGeneration,
  ...forms,
  operation: 'image_edit',
  schema: imageEditRequest,
  unreported: (request) => tokensOf(request, [request.image, request.mask, request.markup]),
}

/** The same, of images that the request refers to. */
export const imageEditByReference: Mode<ImageEditReferences> = {
  ...imageGeneration,
  operation: 'image_edit',
  schema: imageEditReferences,
  unreported: (request) => tokensOf(request, [request.images, request.mask, request.markup]),
}

function tokensOf(request: ImageEditRequest | ImageEditReferences, images: readonly unknown[]) {
  const read = images.flat().filter((image) => image != null).length
  return {
    inputTokens: tokensOfCharacters(request.prompt.length) + IMAGE_TOKENS * read,
    outputTokens: madeTokens(request),
  }
}

/** Images like a given one. Vendors bill them by the image. */
export const imageVariation: Mode<ImageVariationRequest> = {
  ...imageGeneration,
  ...forms,
  operation: 'image_variation',
  schema: imageVariationRequest,
  unreported: ({ n }) => ({ inputTokens: IMAGE_TOKENS, outputTokens: madeTokens({ n }) }),
}
