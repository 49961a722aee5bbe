import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/** `stalled` takes connections and bytes and never answers; `closed` refuses. */
export type Line = 'open' | 'stalled' | 'closed'

export interface Switchable {
  /** The target's address with this line's port. */
  readonly url: string
  set(line: Line): Promise<void>
  close(): Promise<void>
}

/** A TCP line to a server of this machine that can be taken away without stopping the server. */
export async function switchable(target: string): Promise<Switchable> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let line: Line = 'open'

  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (bytes) => line === 'open' && far.write(bytes))
    far.on('data', (bytes) => line === 'open' && near.write(bytes))
  })
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve))
  const dropAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  const unlisten = () => new Promise((resolve) => server.close(resolve))
  await listen(0)
  const own = (server.address() as AddressInfo).port
  return {
    url: Object.assign(new URL(target), { port: String(own) }).href.replace(/\/$/, ''),
    async set(next) {
      if (next === line) return
      const before = line
      line = next
      if (next !== 'stalled') dropAll()
      if (next === 'closed') await unlisten()
      else if (before === 'closed') await listen(own)
    },
    async close() {
      dropAll()
      if (server.listening) await unlisten()
    },
  }
}
