import * as z from 'zod'
import { entryOf } from '../lib/json/lenient.ts'
import { lazily } from '../lib/lazily.ts'
import type { Mode } from './mode.ts'
import { imageName, largerSize } from './price/image-price.ts'
import { perImage, tokensInstead } from './price/tariff.ts'
import { tokensOfCharacters } from './usage.ts'

export const imageRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    prompt: z.string().min(1).describe('What the image shows.'),
    n: z.int().min(1).nullish().describe('How many images.'),
    size: z
      .string()
      .regex(/^(auto|\d+x\d+)$/, 'must be <width>x<height> or auto')
      .nullish()
      .describe('<width>x<height>'),
    quality: z.string().nullish(),
    stream: z.boolean().nullish(),
  }),
)
export type ImageRequest = z.output<ReturnType<typeof imageRequest>>

/** A square image of medium quality, at the vendors that count its tokens. */
const IMAGE = { input: 50, output: 1056 }
/** A wide one of high quality there, with three previews. */
const LONGEST_IMAGE = 6600

export const imageGeneration: Mode<ImageRequest> = {
  name: 'image_generation',
  schema: imageRequest,
  body: 'json',
  unit: 'images',
  longest: LONGEST_IMAGE,
  measure: (request) => ({ images: Math.min(request.n ?? 1, MOST_IMAGES), imageSize: nameOf(request) }),
  unreported: ({ n, quality, prompt }) => ({
    inputTokens: tokensOfCharacters(prompt.length),
    outputTokens: Math.min(n ?? 1, MOST_IMAGES) * (entryOf(TOKENS, quality) ?? TOKENS.high),
  }),
  tariffs: [perImage, tokensInstead(IMAGE)],
}

/** Of a large image, by its quality. */
const TOKENS = { low: 408, medium: 1584, high: 6240 }

/** No vendor makes more at once; numbers of JSON have no end. */
const MOST_IMAGES = 128

/** Some vendors are told the size in two numbers; where both are said, the larger may be what they heed. */
function nameOf({ size, quality, width, height }: ImageRequest): string {
  const said = imageName(size, undefined)
  const numbers = typeof width === 'number' && typeof height === 'number' ? imageName(`${width}x${height}`, '') : ''
  return imageName(numbers === '' ? said : largerSize(said, numbers), quality)
}
