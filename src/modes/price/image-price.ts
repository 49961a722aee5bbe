import { entryOf } from '../../lib/json/lenient.ts'

type PriceMap = Readonly<Record<string, number>>

/** What an image is, as a map of prices names it: `1024x1024`, or `hd/1024x1024` where a quality was asked for. Names
 *  that mean the same are written alike; '' where nobody said. */
export function imageName(size: unknown, quality: unknown): string {
  const shape = typeof size === 'string' ? normal(size) : ''
  const asked = typeof quality === 'string' ? normal(quality) : ''
  // It is told in records, and what else a client writes there is nobody's business.
  const grade = asked === '' || WORD.test(asked) ? asked : 'other'
  return grade === '' || grade === USUAL_QUALITY ? shape : `${grade}/${shape}`
}

/** Of two sizes the one with more pixels. */
export function largerSize(one: string, other: string): string {
  return (pixelsOf(other) ?? 0) > (pixelsOf(one) ?? 0) ? other : one
}

/** What vendors make when nobody says. */
const USUAL_SIZE = '1024x1024'
const USUAL_QUALITY = 'standard'
const WORD = /^[a-z0-9][a-z0-9_ .-]{0,15}$/
const DEFAULT = 'default'

/** By how much more than the dearest entry a size beyond all of them can cost. */
const MOST_TIMES = 16

/** The price of one image: the entry of its name; else the dearest of its size, where only its quality is unknown; else
 *  `default`; else the dearest of all, and more for a size beyond them. A size that the vendor chooses may be any. */
export function priceOfImage(prices: PriceMap, name: string): number | undefined {
  const [size = '', quality = ''] = name.split('/').reverse()
  const entries = Object.entries(prices).map(([key, price]) => ({ name: normalName(key), price }))
  const exactly = entries.find((entry) => entry.name === name)
  if (exactly && name !== '') return exactly.price
  const dearest = (of: typeof entries) => of.reduce((most, { price }) => Math.max(most, price), 0)
  const usual = size === '' ? USUAL_SIZE : size
  const ofSize = entries.filter((entry) => sizeIn(entry.name) === usual)
  if (ofSize.length > 0) {
    return (quality === '' ? ofSize.find((entry) => entry.name === usual)?.price : undefined) ?? dearest(ofSize)
  }
  const standing = entryOf(prices, DEFAULT)
  if (standing !== undefined && size !== 'auto') return standing
  if (entries.length === 0) return undefined
  return dearest(entries) * timesBeyond(size, entries)
}

function timesBeyond(size: string, entries: readonly { readonly name: string }[]): number {
  const pixels = pixelsOf(size)
  const most = Math.max(...entries.map((entry) => pixelsOf(sizeIn(entry.name)) ?? 0))
  if (pixels === undefined || most === 0) return 1
  return Math.min(MOST_TIMES, Math.max(1, pixels / most))
}

const sizeIn = (name: string) => name.slice(name.lastIndexOf('/') + 1)

function normalName(key: string): string {
  const at = key.lastIndexOf('/')
  return at === -1 ? normal(key) : imageName(key.slice(at + 1), key.slice(0, at))
}

function normal(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^(\d+)[x*×](\d+)$/, (_, width, height) => `${digits(width)}x${digits(height)}`)
}

const digits = (text: string) => text.replace(/^0+(?=\d)/, '')

function pixelsOf(size: string): number | undefined {
  const match = /^(\d+)x(\d+)$/.exec(size)
  return match ? Number(match[1]) * Number(match[2]) : undefined
}
