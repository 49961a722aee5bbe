import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEADLINES } from '../../src/stores/kv/degrading/guarded.ts'

/** What happens on the way: `slow` answers after ten seconds, `sluggish` after almost two, `garbage` with a page,
 *  `nonsense` with JSON that fits nothing, `lost` with nothing at all; `unheard` does what it was told, and the answer is
 *  lost. Or every answer is late by so much. */
export type Weather = keyof typeof DELAY_MS | { readonly delayMs: () => number }

const DELAY_MS = { fair: 0, slow: 10_000, sluggish: 1900, garbage: 0, nonsense: 0, lost: 0, unheard: 0 } as const

/** Whether most of these calls went on without the store: half of them in less than a doubtful one is waited for. On a
 *  machine that stands still, a few take longer for no fault of theirs. */
export function mostUnpaid(took: readonly number[]): boolean {
  const median = [...took].sort((a, b) => a - b)[took.length >> 1]
  return median !== undefined && median < DEADLINES.doubtMs
}

export interface WeatherProxy {
  readonly url: string
  weather: Weather
  /** How many of the next requests are lost, whatever the weather. */
  toLose: number
  /** Requests seen since the last change of the weather. */
  requests: number
  close(): Promise<void>
}

/** Stands between a store and its HTTP endpoint, and makes the weather. */
export async function startWeatherProxy(target: string): Promise<WeatherProxy> {
  let weather: Weather = 'fair'
  const timers = new Set<NodeJS.Timeout>()

  async function relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    if (proxy.toLose > 0) {
      proxy.toLose -= 1
      return void response.destroy()
    }
    if (weather === 'lost') return void response.destroy()
    if (weather === 'garbage') return void response.end('<html>502 Bad Gateway</html>')
    if (weather === 'nonsense') return void response.end(JSON.stringify({ result: ['admitted', 'tomorrow', [], {}] }))
    const delayMs = typeof weather === 'string' ? DELAY_MS[weather] : weather.delayMs()
    if (delayMs > 0) {
      await new Promise<void>((resolve) => timers.add(setTimeout(resolve, delayMs)))
    }
    const { authorization = '' } = request.headers
    const answer = await fetch(new URL(request.url ?? '/', target), {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: Buffer.concat(chunks),
    })
    if (weather === 'unheard') return void response.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(await answer.text())
  }

  const proxy: WeatherProxy = {
    url: '',
    get weather() {
      return weather
    },
    set weather(next) {
      weather = next
      proxy.requests = 0
    },
    toLose: 0,
    requests: 0,
    async close() {
      for (const timer of timers) clearTimeout(timer)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const server = createServer((request, response) => {
    proxy.requests += 1
    relay(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(proxy, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

export interface DelayedLine {
  /** The target's address with this line's port. */
  readonly url: string
  delayMs: () => number
  close(): Promise<void>
}

/** A TCP line to a server whose answers arrive late, in their order. */
export async function startDelayedLine(target: string): Promise<DelayedLine> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const server = createTcpServer((near) => {
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      sockets.add(socket.on('error', () => {}).setNoDelay())
      socket.on('close', () => {
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (bytes) => far.write(bytes))
    // A timer for each would swap neighbours whose times differ by less than a millisecond.
    let earlier = Promise.resolve()
    far.on('data', (bytes) => {
      const late = sleep(line.delayMs())
      earlier = earlier.then(() => late).then(() => void near.write(bytes))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const own = (server.address() as AddressInfo).port
  const line: DelayedLine = {
    url: Object.assign(new URL(target), { port: String(own) }).href.replace(/\/$/, ''),
    delayMs: () => 0,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return line
}
