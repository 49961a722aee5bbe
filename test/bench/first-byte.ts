import { Agent, request } from 'node:http'
import { LOAD_CORE, run } from './processes.ts'
import type { Running } from './targets/target.ts'
import { requestBody, STREAMED_CONTENT } from './wire.ts'

export interface FirstByteResult {
  readonly p50Ms: number
  readonly p99Ms: number
  /** To the last byte of the stream. */
  readonly wholeP50Ms: number
}

/** Streams one after the other over one connection, from a process of its own on the load's core. */
export async function firstByte(target: Running, calls: number): Promise<FirstByteResult> {
  const order = JSON.stringify({ url: target.url, headers: target.headers, calls })
  const printed = await run(process.execPath, [import.meta.filename, order], LOAD_CORE, 60_000)
  return JSON.parse(printed)
}

interface Order {
  readonly url: string
  readonly headers: Record<string, string>
  readonly calls: number
}

async function measure({ url, headers, calls }: Order): Promise<FirstByteResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const first: number[] = []
  const whole: number[] = []
  const warming = Math.ceil(calls / 10)
  for (let turn = 0; turn < calls + warming; turn++) {
    const times = await streamOnce(`${url}/chat/completions`, headers, agent)
    if (turn < warming) continue
    first.push(times.first)
    whole.push(times.whole)
  }
  agent.destroy()
  return { p50Ms: quantile(first, 0.5), p99Ms: quantile(first, 0.99), wholeP50Ms: quantile(whole, 0.5) }
}

function streamOnce(url: string, headers: Record<string, string>, agent: Agent) {
  const body = requestBody(true)
  const length = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise<{ first: number; whole: number }>((resolve, reject) => {
    const started = performance.now()
    let first = Number.NaN
    const outgoing = request(url, { method: 'POST', agent, headers: { ...length, ...headers } }, (response) => {
      const pieces: Buffer[] = []
      response.once('data', () => {
        first = performance.now() - started
      })
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', reject)
      response.on('end', () => {
        const lastWord = STREAMED_CONTENT.trim().split(' ').at(-1) ?? ''
        const text = Buffer.concat(pieces).toString()
        if (response.statusCode !== 200 || !text.includes(lastWord))
          reject(new Error(`broken stream: ${text.slice(-200)}`))
        else resolve({ first, whole: performance.now() - started })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

const [, program, order] = process.argv
if (program === import.meta.filename && order !== undefined) {
  process.stdout.write(JSON.stringify(await measure(JSON.parse(order))))
}
