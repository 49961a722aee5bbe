import { type Frame, frameSplitter } from '../../lib/bytes/sse.ts'
import type { StreamReader, StreamStep } from '../provider.ts'

/** A reader of server-sent events from what one event means. */
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
