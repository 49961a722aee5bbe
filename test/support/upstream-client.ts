import type { Behaviour } from './upstream/behaviour.ts'
import type { Arrival, Call, CallOnWire } from './upstream/call.ts'

/** Longer than a machine stands still, and shorter than a test may take. */
const PATIENCE_MS = 15_000

/** The scripted upstream from where no server can be started: in workerd. */
export interface UpstreamClient {
  readonly url: string
  script(key: string, behaviours: readonly Behaviour[]): Promise<void>
  calls(key: string): Promise<readonly Call[]>
  /** Requests below a path, oldest first, as soon as they are as awaited. */
  arrivals(path: string, awaited: (arrivals: readonly Arrival[]) => boolean): Promise<readonly Arrival[]>
  until(key: string, awaited: (calls: readonly Call[]) => boolean, timeoutMs?: number): Promise<readonly Call[]>
}

export function upstreamClient(url: string): UpstreamClient {
  const calls = async (key: string): Promise<readonly Call[]> => {
    const list = (await ask(`${url}/_calls?key=${encodeURIComponent(key)}`)) as (CallOnWire & { endedAt?: number })[]
    return list.map((call) => ({ ...call, endedAt: call.endedAt, body: bytesOf(call.body) }))
  }
  return {
    url,
    async script(key, behaviours) {
      await ask(`${url}/_script`, { method: 'POST', body: JSON.stringify({ key, behaviours }) })
    },
    calls,
    async arrivals(path, awaited) {
      const deadline = Date.now() + PATIENCE_MS
      for (;;) {
        const found = (await ask(`${url}/_arrivals?key=${encodeURIComponent(path)}`)) as Arrival[]
        if (awaited(found)) return found
        if (Date.now() > deadline) throw new Error(`not so within ${PATIENCE_MS} ms: ${JSON.stringify(found)}`)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
    async until(key, awaited, timeoutMs = PATIENCE_MS) {
      const deadline = Date.now() + timeoutMs
      for (;;) {
        const found = await calls(key)
        if (awaited(found)) return found
        if (Date.now() > deadline)
          throw new Error(`not so within ${timeoutMs} ms: ${found.map((call) => call.outcome)}`)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
  }
}

async function ask(url: string, init?: RequestInit): Promise<unknown> {
  const response = await fetch(url, init)
  const body = await response.json()
  if (!response.ok) throw new Error(`the scripted upstream says: ${body}`)
  return body
}

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
