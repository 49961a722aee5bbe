import { StoreUnavailable } from '../store-unavailable.ts'

/** The items of a reply, which are read in order. An unexpected item throws `StoreUnavailable`. */
export interface ScriptReply {
  readonly items: readonly unknown[]
  /** How many of them have been read. */
  at: number
}

export function replyOf(reply: unknown): ScriptReply {
  if (!Array.isArray(reply)) throw new StoreUnavailable('nonsense')
  return { items: reply, at: 0 }
}

export const isRead = ({ items, at }: ScriptReply): boolean => at >= items.length

export function readText(reply: ScriptReply): string {
  const item = reply.items[reply.at++]
  if (typeof item === 'string') return item
  if (typeof item === 'number') return String(item)
  throw new StoreUnavailable('nonsense')
}

export const readNumber = (reply: ScriptReply): number => asNumber(reply.items[reply.at++])

export const readFlag = (reply: ScriptReply): boolean => readNumber(reply) !== 0

export const readList = (reply: ScriptReply): ScriptReply => replyOf(reply.items[reply.at++])

/** A list of so many numbers alone. */
export function readNumbers(reply: ScriptReply, count: number): number[] {
  const { items } = readList(reply)
  if (items.length !== count) throw new StoreUnavailable('nonsense')
  return items.map(asNumber)
}

export function asNumber(item: unknown): number {
  const value = typeof item === 'string' && item !== '' ? Number(item) : item
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new StoreUnavailable('nonsense')
  return value
}
