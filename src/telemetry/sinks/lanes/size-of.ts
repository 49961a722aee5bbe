import type { SinkEntry } from '../sink.ts'

/** The bytes of an event without content, with the entry around it. */
const EVENT_BYTES = 1500
const ATTEMPT_BYTES = 400
const TOOL_CALL_BYTES = 150
const CHARACTER_BYTES = 2

/** About how many bytes an entry occupies. It is estimated, since it is computed with every call. */
export function sizeOf({ event, content }: SinkEntry): number {
  if (event.type !== 'call.finished') return EVENT_BYTES
  const parts = ATTEMPT_BYTES * event.tried.length + TOOL_CALL_BYTES * event.tools.length
  return EVENT_BYTES + parts + (content ? CHARACTER_BYTES * (content.request.length + content.answer.length) : 0)
}
