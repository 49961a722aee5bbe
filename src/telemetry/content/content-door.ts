import type { Config } from '../../config/schema.ts'
import { type Recording, recording } from './recording.ts'

/** Decides whether a call's content may leave by a sink: the one door out. */
export interface ContentDoor {
  /** Begins to remember the content of a call; undefined if none of it may be logged, or no sink wants any. `noLog`: the
   *  client asked for that. */
  open(caller: ContentCaller, noLog?: boolean): Recording | undefined
}

/** The rules of a caller's records about the content of its calls. */
export interface ContentCaller {
  /** It is kept out of every sink. */
  readonly contentOff?: boolean | undefined
  /** The client may not ask for that. */
  readonly noLogIgnored?: boolean | undefined
}

/** The share of the memory for bodies that recordings may occupy. */
const MEMORY_SHARE = 8

export function contentDoor(
  { turn_off_message_logging, max_logged_bytes, redact }: Config['gateway_settings'],
  /** Whether any sink takes content now. */
  isWanted: () => boolean,
  memoryBytes: number,
): ContentDoor {
  if (turn_off_message_logging) return { open: () => undefined }
  const rules = { maxBytes: max_logged_bytes, redact: redact.map((pattern) => new RegExp(pattern, 'gu')) }
  const room = { left: memoryBytes / MEMORY_SHARE }
  return {
    open({ contentOff, noLogIgnored }, noLog) {
      return contentOff || (noLog && !noLogIgnored) || !isWanted() ? undefined : recording(rules, room)
    },
  }
}
