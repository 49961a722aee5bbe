import * as z from 'zod'
import { asText, entryOf } from '../lib/json/lenient.ts'
import { lazily } from '../lib/lazily.ts'
import type { Mode } from './mode.ts'
import { imageName, largerSize, pixelsOf } from './price/image-price.ts'
import { perImage, tokensInstead } from './price/tariff.ts'
import { tokensOfCharacters } from './usage.ts'

export const imageSize = () =>
  z
    .string()
    .regex(/^(auto|\d+x\d+)$/, 'must be <width>x<height> or auto')
    .nullish()
    .describe('<width>x<height>')

export const imageRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    prompt: z.string().min(1).describe('What the image shows.'),
    n: z.int().min(1).nullish().describe('How many images.'),
    size: imageSize(),
    quality: z.string().nullish(),
    stream: z.boolean().nullish(),
  }),
)
export type ImageRequest = z.output<ReturnType<typeof imageRequest>>

/** The tokens of a square image of medium quality, at vendors that bill tokens. */
const IMAGE = { input: 50, output: 1056 }

/** What a request says of its images, whatever they are made of. */
interface AskedImages {
  readonly n?: ImageRequest['n']
  readonly size?: ImageRequest['size']
  readonly quality?: ImageRequest['quality']
  readonly [field: string]: unknown
}

export const imageGeneration = {
  name: 'image_generation',
  schema: imageRequest,
  body: 'json',
  tokenless: true,
  unit: 'images',
  longest: longestImage,
  measure: (request: AskedImages) => ({ images: Math.min(request.n ?? 1, MOST_IMAGES), imageSize: nameOf(request) }),
  unreported: (request) => ({
    inputTokens: tokensOfCharacters(request.prompt.length),
    outputTokens: madeTokens(request),
  }),
  tariffs: [perImage, tokensInstead(IMAGE)],
} satisfies Mode<ImageRequest>

/** The most tokens of an image of a usual size by its quality. No list tells them of the two highest: each is taken for
 *  twice as many as the one below. */
const TOKENS = { low: 408, medium: 1584, high: 7024, xhigh: 14_048, max: 28_096 }
/** A larger image takes up to twice as many. */
const USUAL_PIXELS = 2 ** 21
const PREVIEWS = 300
/** What a model writes and thinks to write down a drawing. */
const WRITTEN = 16_384

/** The most tokens of one image, with three previews. Its quality is not taken for less than high: not every model knows
 *  it. */
function longestImage(request: AskedImages, defaults: Readonly<Record<string, unknown>>): number {
  const asked = (field: string) => request[field] ?? defaults[field]
  const tokens = Math.max(TOKENS.high, entryOf(TOKENS, asked('quality')) ?? 0)
  const drawn = tokens * ((pixelsOf(asText(asked('size'))) ?? 0) > USUAL_PIXELS ? 2 : 1)
  return drawn + PREVIEWS + (asked('output_format') === 'svg' ? WRITTEN : 0)
}

/** The tokens that images are made of, where the vendor tells none. */
export function madeTokens({ n, quality }: Pick<AskedImages, 'n' | 'quality'>): number {
  return Math.min(n ?? 1, MOST_IMAGES) * (entryOf(TOKENS, quality) ?? TOKENS.high)
}

/** More than any vendor makes in one call. It bounds the client's number. */
const MOST_IMAGES = 128

/** Some vendors take the size as two numbers. The larger size counts where both are given: the vendor may use
 *  either. */
function nameOf({ size, quality, width, height }: AskedImages): string {
  const named = imageName(size, undefined)
  const numbers = typeof width === 'number' && typeof height === 'number' ? imageName(`${width}x${height}`, '') : ''
  return imageName(numbers === '' ? named : largerSize(named, numbers), quality)
}
