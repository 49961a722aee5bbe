import type { SinkEntry } from './sink.ts'

/** What an event without content and the entry around it occupy. */
const EVENT_BYTES = 1500
const ATTEMPT_BYTES = 400
const CHARACTER_BYTES = 2

/** About how many bytes an entry occupies. It is estimated, since it is computed with every call. */
export function sizeOf({ event, content }: SinkEntry): number {
  if (event.type !== 'call.finished') return EVENT_BYTES
  const attempts = ATTEMPT_BYTES * event.tried.length
  return EVENT_BYTES + attempts + (content ? CHARACTER_BYTES * (content.request.length + content.answer.length) : 0)
}
