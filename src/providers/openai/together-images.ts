import type { ImageRequest } from '../../modes/image-generation.ts'
import type { Adapter } from '../provider.ts'
import { openaiImagesWith } from './modes.ts'

/** Images of Together's, whose API has a width and a height in the place of a size, and a word of its own for images that
 *  the answer contains. */
export const togetherImages: Adapter<ImageRequest> = openaiImagesWith(({ body }) => {
  const { size, width, height, response_format } = body
  const isSized = typeof size === 'string' && size !== 'auto' && width === undefined && height === undefined
  const [asWidth, asHeight] = isSized ? size.split('x').map(Number) : []
  return {
    ...(size === undefined ? {} : { size: undefined }),
    ...(isSized ? { width: asWidth, height: asHeight } : {}),
    ...(response_format === 'b64_json' ? { response_format: 'base64' } : {}),
  }
})
