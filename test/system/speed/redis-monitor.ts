import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RedisMonitor {
  /** Every command that clients had sent when this was asked, as the server prints it. */
  commands(): Promise<readonly string[]>
  close(): void
}

/** Watches a Redis server with its own MONITOR. What a script runs inside is no command of a client. */
export async function redisMonitor(url: string): Promise<RedisMonitor> {
  const [watching, marking] = await Promise.all([opened(url), opened(url)])
  const commands: string[] = []
  const marks = new Map<string, () => void>()
  let pending = ''
  watching.setEncoding('latin1').on('data', (text: string) => {
    const lines = (pending + text).split('\r\n')
    pending = lines.pop() ?? ''
    for (const line of lines) {
      const [, client, command = ''] = /^\+[\d.]+ \[\d+ (\S+)\] (.*)$/s.exec(line) ?? []
      const mark = /^"echo" "(.*)"$/i.exec(command)?.[1]
      if (mark !== undefined) marks.get(mark)?.()
      else if (client !== undefined && client !== 'lua') commands.push(command)
    }
  })
  const confirmed = once(watching, 'data')
  watching.write('MONITOR\r\n')
  await confirmed
  marking.resume()
  let serial = 0
  return {
    async commands() {
      // What the server has printed before this mark was all of it.
      const mark = `mark-${++serial}`
      const seen = new Promise<void>((resolve) => marks.set(mark, resolve))
      marking.write(`ECHO ${mark}\r\n`)
      await seen
      marks.delete(mark)
      return [...commands]
    },
    close() {
      watching.destroy()
      marking.destroy()
    },
  }
}

async function opened(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}
