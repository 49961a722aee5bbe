import type { BlobRange } from '../../../stores/blobs/blobs.ts'

/** The one range that a Range header asks for; `whole` for several of them and for what is no range, as the standard has
 *  it; undefined if it lies outside. */
export function askedRange(header: string | undefined, size: number): BlobRange | 'whole' | undefined {
  const found = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '')
  const [, first = '', last = ''] = found ?? []
  if (first === '' && last === '') return 'whole'
  if (first === '') return between(Math.max(0, size - Number(last)), size - 1)
  if (last !== '' && Number(last) < Number(first)) return 'whole'
  return between(Number(first), last === '' ? size - 1 : Math.min(Number(last), size - 1))
}

function between(from: number, until: number): BlobRange | undefined {
  return from <= until ? { from, length: until - from + 1 } : undefined
}
