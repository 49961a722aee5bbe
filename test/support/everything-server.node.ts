import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

export interface EverythingServer {
  /** Its MCP endpoint. */
  readonly url: string
  /** What it has written of sessions and requests. */
  readonly lines: readonly string[]
  close(): Promise<void>
}

/** Has the process listen on loopback alone, and tell on which port. */
const LOOPBACK = `
  import net from 'node:net'
  const { listen } = net.Server.prototype
  net.Server.prototype.listen = function (port, listening) {
    this.once('listening', () => console.log('port ' + this.address().port))
    return listen.call(this, { port: Number(port), host: '127.0.0.1' }, listening)
  }`

/** The reference server of the Model Context Protocol, which has a tool for everything, as a process of its own. */
export async function startEverythingServer(): Promise<EverythingServer> {
  const entry = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(LOOPBACK)}`, entry, 'streamableHttp'],
    { env: { ...process.env, PORT: '0', NODE_OPTIONS: '' }, stdio: ['ignore', 'pipe', 'ignore'] },
  )
  const lines: string[] = []
  const port = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the server of all tools has ended')))
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      const [, told] = /^port (\d+)$/.exec(line) ?? []
      if (told) resolve(told)
    })
  })
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    lines,
    async close() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}
