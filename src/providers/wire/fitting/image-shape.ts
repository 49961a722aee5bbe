/** 1792x1024 counts as 16:9, and 1536x1024 is 3:2. */
const TOLERANCE = 1.05

/** The shape of a vendor's, as `16:9`, that an image of a size has, and the side of a square of as many pixels. Undefined
 *  where the vendor has none like it. */
export function imageShape(
  size: string,
  shapes: readonly string[],
): { readonly shape: string; readonly side: number } | undefined {
  const [width = 0, height = 0] = size.split('x').map(Number)
  const apart = (shape: string) => {
    const ratio = width / height / ratioOf(shape)
    return Math.max(ratio, 1 / ratio)
  }
  const nearest = shapes.reduce((best, next) => (apart(next) < apart(best) ? next : best))
  return apart(nearest) <= TOLERANCE ? { shape: nearest, side: Math.sqrt(width * height) } : undefined
}

function ratioOf(shape: string): number {
  const [width = 1, height = 1] = shape.split(':').map(Number)
  return width / height
}
