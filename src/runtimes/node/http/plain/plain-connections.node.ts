import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Listener } from '../messages.node.ts'
import { type PlainConnection, plainConnection } from './plain-connection.node.ts'

const SECOND_MS = 1000

/** The connections of a server that Node does not know of. */
export interface PlainConnections {
  /** Closes those that wait for their next request, and did when it was called before. */
  closeIdle(): void
  closeAll(): void
}

/** Lets a server read plain requests itself, which costs a call far less than Node's parser and streams; the connections
 *  of all others become Node's. To be called before the server has other listeners. */
export function plainConnections(server: Server, listener: Listener): PlainConnections {
  const all = new Map<PlainConnection, Socket>()
  const [begin] = server.listeners('connection')
  if (!begin) throw new TypeError('the server has no connections')
  server.removeAllListeners('connection')

  const means = {
    listener,
    gone: (connection: PlainConnection) => void all.delete(connection),
    giveAway: (socket: Socket) => void Reflect.apply(begin, server, [socket]),
    refuse: (socket: Socket, code: string) =>
      void server.emit('clientError', Object.assign(new Error('no request came'), { code }), socket),
  }
  server.on('connection', (socket: Socket) => all.set(plainConnection(socket, means), socket))
  const looking = setInterval(() => {
    for (const connection of all.keys()) connection.look()
  }, SECOND_MS).unref()
  server.on('close', () => clearInterval(looking))

  return {
    closeIdle() {
      for (const [connection, socket] of all) if (connection.isStillIdle()) socket.destroy()
    },
    closeAll() {
      for (const socket of all.values()) socket.destroy()
    },
  }
}
