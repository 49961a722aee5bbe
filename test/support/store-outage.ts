import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What happens on the way: `slow` answers after ten seconds, `sluggish` after half a second, `garbage` with a page,
 *  `nonsense` with JSON that fits nothing, `lost` with nothing at all; `unheard` does what it was told, and the answer is
 *  lost. */
export type Weather = 'fair' | 'slow' | 'sluggish' | 'garbage' | 'nonsense' | 'lost' | 'unheard'

const DELAY_MS = { fair: 0, slow: 10_000, sluggish: 500, garbage: 0, nonsense: 0, lost: 0, unheard: 0 } as const

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
    const delayMs = DELAY_MS[weather]
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
