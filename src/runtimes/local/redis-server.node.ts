import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@redis/client'

export interface RedisServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

/** Starts a local redis-server without persistence, which ends with this process at the latest. Resolves with undefined
 *  if redis-server is not installed. */
export async function startRedisServer(
  options: { readonly port?: number; readonly args?: readonly string[] } = {},
): Promise<RedisServer | undefined> {
  const port = options.port ?? (await freePort())
  const own = `--bind 127.0.0.1 --port ${port} --appendonly no`.split(' ')
  const child = spawn('redis-server', [...own, '--save', '', ...(options.args ?? [])], { stdio: 'ignore' })
  const started = await Promise.race([once(child, 'spawn').then(() => true), once(child, 'error').then(() => false)])
  if (!started) return undefined
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  await waitUntilReady(port, child)
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: child.pid as number,
    async stop() {
      process.off('exit', kill)
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Waits until the server answers. An error about the password is an answer too. */
async function waitUntilReady(port: number, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
    const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: false }, RESP: 2 })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.ping()
      return
    } catch (error) {
      if (String(error).includes('NOAUTH')) return
      await sleep(20)
    } finally {
      client.destroy()
    }
  }
  throw new Error('redis-server does not answer')
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
