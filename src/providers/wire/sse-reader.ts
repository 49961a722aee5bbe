import { type Frame, frameSplitter } from '../../lib/bytes/sse.ts'
import type { StreamReader, StreamStep } from '../provider.ts'

/** A stream reader of server-sent events; `read` gives the meaning of one event. */
export function sseReader(
  read: (frame: Frame) => StreamStep | readonly StreamStep[],
  closing?: () => Uint8Array,
): StreamReader {
  const splitter = frameSplitter()
  return {
    push: (piece) => splitter.push(piece).flatMap(read),
    ...(closing ? { closing } : {}),
  }
}
