import type { Abort } from '../../../lib/abort.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { clientClosed, departure, type Upload } from '../../../pipeline/client.ts'
import { tooLarge } from '../../too-large.ts'
import { discardRest } from './discard-rest.node.ts'
import type { Incoming } from './messages.node.ts'

/** A request's body as a stream, received as fast as it is read. */
export function nodeUpload(incoming: Incoming, signal: Abort, limitBytes: number): Upload {
  const announced = incoming.headers['content-length']
  const length = announced === undefined ? undefined : Number(announced)
  let received = 0
  let failure: unknown
  let wake: (() => void) | undefined

  const notify = () => {
    wake?.()
    wake = undefined
  }
  const fail = (error: unknown) => {
    failure ??= error
    notify()
  }
  const closed = () => {
    if (!incoming.readableEnded) fail(clientClosed())
  }
  incoming.on('readable', notify)
  incoming.once('end', notify)
  incoming.once('close', closed)
  incoming.on('error', closed)
  signal.addEventListener('abort', () => fail(departure(signal)))
  if (incoming.destroyed) closed()
  if (length !== undefined && length > limitBytes) fail(tooLarge(limitBytes))

  return {
    length,
    async read() {
      for (;;) {
        if (failure !== undefined) throw failure
        const piece = incoming.read() as Uint8Array | null
        if (piece !== null) {
          received += piece.byteLength
          if (received <= limitBytes) return piece
          fail(tooLarge(limitBytes))
          continue
        }
        if (incoming.readableEnded) return undefined
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    close() {
      incoming.off('readable', notify)
      fail(new GatewayError('client_closed', 'The rest of the body is not read.'))
      discardRest(incoming)
    },
  }
}
