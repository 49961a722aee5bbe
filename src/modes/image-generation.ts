import * as z from 'zod'
import type { ModelInfo } from '../config/model-list.ts'
import type { Mode } from './mode.ts'

export const imageRequest = z.looseObject({
  model: z.string().min(1).describe('Public model name, alias or route group.'),
  prompt: z.string().min(1).describe('What the image shows.'),
  n: z.int().min(1).nullish().describe('How many images.'),
  size: z
    .string()
    .regex(/^(auto|\d+x\d+)$/, 'must be <width>x<height> or auto')
    .nullish()
    .describe('<width>x<height>'),
  stream: z.boolean().nullish(),
})
export type ImageRequest = z.output<typeof imageRequest>

export const imageGeneration: Mode<ImageRequest> = {
  name: 'image_generation',
  schema: imageRequest,
  body: 'json',
  unit: 'images',
  measure: ({ n }) => ({ images: n ?? 1 }),
  unitCost: cheapestImage,
}

/** A map by size is compared by its cheapest entry. */
function cheapestImage({ cost_per_image, input_cost_per_image }: ModelInfo): number | undefined {
  const price = cost_per_image ?? input_cost_per_image
  return typeof price === 'object' ? Math.min(...Object.values(price)) : price
}
