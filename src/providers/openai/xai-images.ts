import type { JsonRecord } from '../../lib/json/lenient.ts'
import type { ImageRequest } from '../../modes/image-generation.ts'
import { type Adapter, dropper, type Outgoing } from '../provider.ts'
import { imageShape } from '../wire/fitting/image-shape.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { openaiImagesWith } from './modes.ts'

/** The shapes that the models know. */
const SHAPES = ['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '9:19.5', '19.5:9', '9:20', '20:9', '1:2', '2:1']

/** The models that know a quality, and the qualities that they know. */
const WITH_QUALITY = /imagine-image-([2-9]|\d\d)/
const QUALITIES = ['low', 'medium', 'high']

/** The side of a square of as many pixels up to which the lower resolution is the nearest. */
const LOWER = 1450

/** Images of xAI's, whose API has a shape and a resolution. It refuses OpenAI's size and style, and most of its models the
 *  quality, which some clients send unasked. */
export const xaiImages: Adapter<ImageRequest> = openaiImagesWith((call, { model }) => ({
  ...shaped(call),
  ...withoutStyle(call, WITH_QUALITY.test(model)),
}))

function shaped({ body }: Outgoing<ImageRequest>): JsonRecord {
  const { size, aspect_ratio, resolution } = body
  if (size === undefined) return {}
  if (size === null || size === 'auto') return { size: undefined }
  const found = imageShape(size, SHAPES)
  if (!found && aspect_ratio === undefined) {
    throw unsupported('size', "xAI's images API", `Its shapes are ${SHAPES.join(', ')}.`)
  }
  const larger = found && found.side > LOWER ? { resolution: '2k' } : {}
  return {
    size: undefined,
    ...(aspect_ratio === undefined ? { aspect_ratio: found?.shape } : {}),
    ...(resolution === undefined ? larger : {}),
  }
}

function withoutStyle(call: Outgoing<ImageRequest>, takesQuality: boolean): JsonRecord {
  const { quality, style } = call.body
  const drop = dropper(call)
  const isTaken = quality === undefined || (takesQuality && QUALITIES.includes(quality ?? ''))
  if (!isTaken && quality !== null && quality !== 'auto') drop('quality')
  if (style != null) drop('style')
  return { ...(isTaken ? {} : { quality: undefined }), ...(style === undefined ? {} : { style: undefined }) }
}
