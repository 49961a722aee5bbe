import type { SinkEntry, SinkEvent } from '../sink.ts'

/** An entry that waits in memory. A packed one holds its event as JSON: one object for the garbage collector to visit
 *  instead of fifty. */
export type WaitingEntry = UnpackedEntry | PackedEntry

interface UnpackedEntry {
  readonly entry: SinkEntry
  readonly bytes: number
}

interface PackedEntry extends Pick<SinkEntry, 'id' | 'content'> {
  readonly json: string
  readonly bytes: number
}

/** The event that was packed last: all lanes that pack an event share its text. */
let last: { readonly event: SinkEvent; readonly json: string } | undefined

export function packed({ id, event, content }: SinkEntry, bytes: number): PackedEntry {
  if (last?.event !== event) last = { event, json: JSON.stringify(event) }
  return { id, json: last.json, content, bytes }
}

/** The entry; a new object for each call if it was packed. */
export function unpacked(waiting: WaitingEntry): SinkEntry {
  if ('entry' in waiting) return waiting.entry
  const { id, json, content } = waiting
  const event = JSON.parse(json) as SinkEvent
  return content ? { id, event, content } : { id, event }
}
