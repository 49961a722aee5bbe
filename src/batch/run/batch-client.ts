import { newAbort } from '../../lib/abort.ts'
import type { GatewayError } from '../../lib/errors.ts'
import { type Client, type ClientStream, unsent } from '../../pipeline/client.ts'

/** The client of an item: it has no connection, never leaves, and takes its answer as fast as it comes. */
export interface BatchClient extends Client {
  /** Resolves when everything is done that was deferred: then the call is settled. */
  settled(): Promise<void>
}

export function batchClient(): BatchClient {
  const deferred: Promise<unknown>[] = []
  const listeners: (() => void)[] = []
  let over = false
  return {
    signal: newAbort<GatewayError>(),
    address: '',
    defer: (work) => void deferred.push(work.catch(() => {})),
    body: () => Promise.reject(unsent()),
    upload: () => ({ length: 0, read: async () => undefined, close() {} }),
    ended(listener) {
      if (over) listener()
      else listeners.push(listener)
    },
    openStream: collected,
    async settled() {
      // Deferred work may defer more.
      for (let seen = -1; seen < deferred.length; ) {
        seen = deferred.length
        await Promise.all(deferred)
      }
      over = true
      for (const listener of listeners.splice(0)) listener()
    },
  }
}

function collected(): ClientStream {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const readable = new ReadableStream<Uint8Array>({
    start(own) {
      controller = own
    },
  })
  return {
    readable,
    write(bytes) {
      controller?.enqueue(bytes)
      return undefined
    },
    async close() {
      controller?.close()
      controller = undefined
    },
    abort() {
      controller?.error(new Error('The answer broke off.'))
      controller = undefined
    },
  }
}
