import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import type { Mode } from './mode.ts'
import { perImage, tokensInstead } from './tariff.ts'

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

export const imageGeneration: Mode<ImageRequest> = {
  name: 'image_generation',
  schema: imageRequest,
  body: 'json',
  unit: 'images',
  measure: ({ n, size, quality }) => ({ images: n ?? 1, imageSize: imageSize(size, quality) }),
  tariffs: [perImage, tokensInstead(IMAGE)],
}

/** `1024x1024`, or `hd/1024x1024` where a quality was asked for: by what a map of prices is searched. */
function imageSize(size: string | null | undefined, quality: string | null | undefined): string {
  return quality ? `${quality}/${size ?? ''}` : (size ?? '')
}
