import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { newAbort } from '../../src/lib/abort.ts'
import { secret } from '../../src/lib/secret.ts'
import { nodeTransport } from '../../src/transport/node-transport.node.ts'
import type { Transport } from '../../src/transport/transport.ts'
import { undiciTransport } from '../../src/transport/undici.node.ts'
import { REPLY, requestBody } from './wire.ts'

/** What an upstream call costs in the transport alone: CPU and what it leaves to the collector, over plain HTTP and over
 *  TLS, for each transport in turn within one process. The far end is another one. */

const [connections, rounds, calls] = [Number(process.argv[2] ?? 16), Number(process.argv[3] ?? 15), 2000]

const transports: Readonly<Record<string, Transport>> = { node: nodeTransport(), undici: undiciTransport() }
const farEnd = spawn(process.execPath, [new URL('./transport-end.ts', import.meta.url).pathname], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [line] = (await once(farEnd.stdout, 'data')) as [Buffer]
const { cert, http, https } = JSON.parse(line.toString()) as { cert: string; http: number; https: number }
setDefaultCACertificates([...getCACertificates('default'), cert])

const body = new TextEncoder().encode(requestBody(false))
const headers = { authorization: secret('Bearer sk-bench-upstream'), 'content-type': 'application/json' }

async function call(transport: Transport, origin: string): Promise<void> {
  const request = { method: 'POST', origin, path: '/v1/chat/completions', headers, body: [body] } as const
  const answer = await transport.send(request, newAbort())
  const { byteLength } = await answer.body.bytes(1_000_000)
  if (answer.status !== 200 || byteLength !== REPLY.length)
    throw new Error(`answered ${answer.status}, ${byteLength} bytes`)
}

async function callAll(transport: Transport, origin: string): Promise<void> {
  let left = calls
  const one = async () => {
    while (left-- > 0) await call(transport, origin)
  }
  await Promise.all(Array.from({ length: connections }, one))
}

const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN

for (const origin of [`http://127.0.0.1:${http}`, `https://127.0.0.1:${https}`]) {
  const told = Object.entries(transports).map(([name, transport]) => ({
    name,
    transport,
    cpu: [] as number[],
    bytes: [] as number[],
  }))
  for (const { transport } of told) for (let turn = 0; turn < 3; turn++) await callAll(transport, origin)
  for (let round = 0; round < rounds; round++) {
    for (const { transport, cpu, bytes } of round % 2 ? told.toReversed() : told) {
      globalThis.gc?.()
      const [heapBefore, cpuBefore] = [process.memoryUsage().heapUsed, process.cpuUsage()]
      await callAll(transport, origin)
      const { user, system } = process.cpuUsage(cpuBefore)
      cpu.push((user + system) / calls)
      bytes.push((process.memoryUsage().heapUsed - heapBefore) / calls)
    }
  }
  for (const { name, cpu, bytes } of told) {
    const figures = `${median(cpu).toFixed(1)} µs of CPU, ${median(bytes).toFixed(0)} bytes`
    process.stdout.write(`${new URL(origin).protocol} ${name.padEnd(8)} ${figures}\n`)
  }
}
farEnd.kill()
process.exit(0)
