import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { answer } from './upstream/answer.ts'
import type { Behaviour } from './upstream/behaviour.ts'
import { type Arrival, belongsTo, type Call, type CallOnWire } from './upstream/call.ts'
import { planOf } from './upstream/plan.ts'
import { play } from './upstream/play.node.ts'

export interface Upstream {
  /** `http://127.0.0.1:…`; answers under any path that ends like the vendor's, such as `/v1/chat/completions`. */
  readonly url: string
  /** The next calls to a model name, or below a path prefix when the key starts with a slash, are answered so, one after
   *  the other; the last behaviour repeats. Without a script every call gets its true answer. */
  script(key: string, behaviours: readonly Behaviour[]): void
  /** The calls so far, oldest first. */
  calls(key: string): readonly Call[]
  /** The calls, as soon as they are as awaited; throws after the time is over. */
  until(key: string, awaited: (calls: readonly Call[]) => boolean, timeoutMs?: number): Promise<readonly Call[]>
  close(): Promise<void>
}

/** Longer than a machine stands still, and shorter than a test may take. */
const PATIENCE_MS = 15_000

interface Script {
  readonly behaviours: readonly Behaviour[]
  used: number
}

/** A far end on this machine that speaks the vendor's wire shape and misbehaves as it is told. It can be told over HTTP
 *  too: `POST /_script` `{key, behaviours}`, `GET /_calls?key=` and `GET /_arrivals?key=`, as `upstream-client.ts` does. */
export async function startUpstream(): Promise<Upstream> {
  const scripts = new Map<string, Script>()
  const calls: Call[] = []
  const arrivals: Arrival[] = []
  let serial = 0

  const script: Upstream['script'] = (key, behaviours) => {
    if (behaviours.length === 0) throw new RangeError('a script needs at least one behaviour')
    scripts.set(key, { behaviours, used: 0 })
  }
  const callsOf = (key: string) => calls.filter((call) => belongsTo(key, call))

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = Date.now()
    const path = request.url ?? '/'
    const arrival = { path, received: 0, state: 'coming' as Arrival['state'] }
    if (!path.startsWith('/_')) arrivals.push(arrival)
    const body = await bodyOf(request, arrival)
    if (path === '/_script') return control(response, () => readScript(body, script))
    if (path.startsWith('/_arrivals')) {
      return control(response, () => arrivals.filter((one) => one.path.startsWith(keyOf(path))))
    }
    if (path.startsWith('/_calls')) return control(response, () => callsOf(keyOf(path)).map(onWire))

    const parsed = parse(body)
    const call = {
      method: request.method ?? '',
      path,
      model: modelOf(parsed, body),
      headers: headersOf(request),
      body,
      startedAt,
      endedAt: undefined,
      outcome: 'running' as const,
      writes: 0,
      bytesSent: 0,
    }
    calls.push(call)
    const behaviour = nextBehaviour(scripts, call) ?? answer()
    const models = [...scripts.keys()].filter((key) => !key.startsWith('/'))
    await play(planOf(behaviour, { method: call.method, path, body: parsed, serial: ++serial, models }), response, call)
  }

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    serve(request, response).catch((error) => {
      // A mistake in a script must not look like one of the faults that it scripts.
      process.stderr.write(`scripted upstream: ${error instanceof Error ? error.stack : error}\n`)
      if (!response.headersSent) response.writeHead(599).end(String(error))
      else response.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    script,
    calls: callsOf,
    async until(key, awaited, timeoutMs = PATIENCE_MS) {
      const deadline = Date.now() + timeoutMs
      while (!awaited(callsOf(key))) {
        if (Date.now() > deadline) throw new Error(`not so within ${timeoutMs} ms: ${outcomes(callsOf(key))}`)
        await wait(2)
      }
      return callsOf(key)
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** The longest path prefix that fits wins; a model name counts when no prefix does. */
function nextBehaviour(scripts: Map<string, Script>, call: Call): Behaviour | undefined {
  const [key] = [...scripts.keys()].filter((one) => belongsTo(one, call)).sort(prefixesFirst)
  const script = key === undefined ? undefined : scripts.get(key)
  return script?.behaviours[Math.min(script.used++, script.behaviours.length - 1)]
}

const prefixesFirst = (a: string, b: string) =>
  Number(b.startsWith('/')) - Number(a.startsWith('/')) || b.length - a.length

async function bodyOf(
  request: IncomingMessage,
  arrival: { received: number; state: Arrival['state'] },
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  try {
    for await (const piece of request) {
      pieces.push(piece)
      arrival.received += piece.byteLength
    }
  } catch {
    arrival.state = 'broken_off'
    // Whoever broke it off reads no answer, and no script is used up.
    return new Promise(() => {})
  }
  arrival.state = 'whole'
  return new Uint8Array(Buffer.concat(pieces))
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}

function modelOf(parsed: unknown, body: Uint8Array): string {
  const named = (parsed as { model?: unknown } | null | undefined)?.model
  if (typeof named === 'string') return named
  const field = /name="model"\r\n(?:[^\r\n]+\r\n)*\r\n([^\r\n]*)/.exec(new TextDecoder().decode(body))
  return field?.[1] ?? ''
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const lists = Object.entries(request.headersDistinct).map(([name, values]) => [name, (values ?? []).join(', ')])
  return Object.fromEntries(lists)
}

function control(response: ServerResponse, act: () => unknown): void {
  response.setHeader('content-type', 'application/json')
  try {
    response.end(JSON.stringify(act() ?? null))
  } catch (error) {
    response.writeHead(400).end(JSON.stringify(String(error)))
  }
}

function readScript(body: Uint8Array, script: Upstream['script']): void {
  const { key, behaviours } = parse(body) as { key: string; behaviours: Behaviour[] }
  script(key, behaviours)
}

const keyOf = (path: string) => new URL(path, 'http://upstream').searchParams.get('key') ?? ''
const onWire = (call: Call): CallOnWire => ({ ...call, body: Buffer.from(call.body).toString('base64') })
const outcomes = (calls: readonly Call[]) => JSON.stringify(calls.map(({ path, outcome }) => ({ path, outcome })))
