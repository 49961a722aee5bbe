import type { ImageRequest } from '../../../modes/image-generation.ts'
import { imageShape } from '../../wire/fitting/image-shape.ts'
import { unsupported } from '../../wire/unsupported-fields.ts'
import { GEMINI } from '../api-name.ts'

/** The shapes that the models know. */
const SHAPES = [
  ...['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'],
  ...['1:4', '4:1', '1:8', '8:1'],
]

/** The resolutions, by the side of a square of as many pixels up to which each is the nearest. The first one is what a
 *  model makes by itself, and the only one of some. */
const RESOLUTIONS = [
  [1450, undefined],
  [2900, '2K'],
  [Number.POSITIVE_INFINITY, '4K'],
] as const

/** The shape and the resolution that a request asks for by its size, or by the vendor's own words. */
export function imageConfigOf(body: Pick<ImageRequest, 'size'>): Record<string, unknown> | undefined {
  const { aspect_ratio, image_size } = body as Readonly<Record<string, unknown>>
  const sized = sizeOf(body.size)
  const aspectRatio = aspect_ratio ?? sized.aspectRatio
  const imageSize = image_size ?? sized.imageSize
  if (aspectRatio === undefined && imageSize === undefined) return undefined
  return { ...(aspectRatio === undefined ? {} : { aspectRatio }), ...(imageSize === undefined ? {} : { imageSize }) }
}

function sizeOf(size: ImageRequest['size']): {
  readonly aspectRatio?: string
  readonly imageSize?: string | undefined
} {
  if (!size || size === 'auto') return {}
  const found = imageShape(size, SHAPES)
  if (!found) throw unsupported('size', GEMINI, `Its shapes are ${SHAPES.join(', ')}.`)
  return { aspectRatio: found.shape, imageSize: RESOLUTIONS.find(([most]) => found.side <= most)?.[1] }
}
