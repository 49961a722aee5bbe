import { entryOf } from '../../lib/json/lenient.ts'

type PriceMap = Readonly<Record<string, number>>

/** The name of an image in a map of prices: `1024x1024`, or `hd/1024x1024` with a quality; '' where the request has
 *  neither. Spellings of the same size or quality give the same name. */
export function imageName(size: unknown, quality: unknown): string {
  const shape = typeof size === 'string' ? normal(size) : ''
  const word = typeof quality === 'string' ? normal(quality) : ''
  // The name goes into records, which must not hold other text of the client.
  const grade = word === '' || WORD.test(word) ? word : 'other'
  return grade === '' || grade === USUAL_QUALITY ? shape : `${grade}/${shape}`
}

/** The size with more pixels. */
export function largerSize(one: string, other: string): string {
  return (pixelsOf(other) ?? 0) > (pixelsOf(one) ?? 0) ? other : one
}

/** The vendors' defaults. */
const USUAL_SIZE = '1024x1024'
const USUAL_QUALITY = 'standard'
const WORD = /^[a-z0-9][a-z0-9_ .-]{0,15}$/
const DEFAULT = 'default'

/** A size beyond all entries costs at most this many times the dearest entry. */
const MOST_TIMES = 16

/** The price of one image: the entry of its name; else the dearest entry of its size; else `default`; else the dearest
 *  of all, raised in proportion for a larger size. `auto` costs the dearest: the vendor may choose any size. */
export function priceOfImage(prices: PriceMap, name: string): number | undefined {
  const [size = '', quality = ''] = name.split('/').reverse()
  const entries = Object.entries(prices).map(([key, price]) => ({ name: normalName(key), price }))
  const exact = entries.find((entry) => entry.name === name)
  if (exact && name !== '') return exact.price
  const dearest = (of: typeof entries) => of.reduce((most, { price }) => Math.max(most, price), 0)
  const usual = size === '' ? USUAL_SIZE : size
  const ofSize = entries.filter((entry) => sizeIn(entry.name) === usual)
  if (ofSize.length > 0) {
    return (quality === '' ? ofSize.find((entry) => entry.name === usual)?.price : undefined) ?? dearest(ofSize)
  }
  const byDefault = entryOf(prices, DEFAULT)
  if (byDefault !== undefined && size !== 'auto') return byDefault
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

export function pixelsOf(size: string | null | undefined): number | undefined {
  const match = /^(\d+)x(\d+)$/.exec(size ?? '')
  return match ? Number(match[1]) * Number(match[2]) : undefined
}
