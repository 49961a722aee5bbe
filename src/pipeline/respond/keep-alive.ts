import type { ClientStream } from '../client.ts'

/** A server-sent comment: keeps the connection alive and carries no data. */
export const KEEP_ALIVE = new TextEncoder().encode(': keep-alive\n\n')

/** Writes keep-alives to a stream that has nothing else to say yet, the first one at once. Returns a function that stops
 *  them. */
export function startKeepAlive(stream: ClientStream, everySeconds: number): () => void {
  const write = () => void stream.write(KEEP_ALIVE)?.catch(() => {})
  write()
  const writing = setInterval(write, 1000 * everySeconds)
  return () => clearInterval(writing)
}
