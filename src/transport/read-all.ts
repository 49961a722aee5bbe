import { joinBytes } from '../lib/bytes/bytes.ts'
import { BodyTooLarge, type UpstreamBody } from './transport.ts'

/** Implements `UpstreamBody.bytes` by `read` and `cancel`. */
export async function readAll(
  body: Pick<UpstreamBody, 'read' | 'cancel'>,
  limitBytes: number,
  arrived?: (bytes: number) => void,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
    length += piece.byteLength
    if (length > limitBytes) {
      body.cancel()
      throw new BodyTooLarge(`the upstream's answer is larger than ${limitBytes} bytes`)
    }
    try {
      arrived?.(piece.byteLength)
    } catch (error) {
      body.cancel()
      throw error
    }
    pieces.push(piece)
  }
  return joinBytes(pieces)
}
