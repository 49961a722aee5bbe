import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cpuSeconds, LOAD_CORE, run } from './processes.ts'
import type { Running } from './targets/target.ts'
import { ASKS, type Kind } from './wire.ts'

export interface LoadResult {
  readonly calls: number
  readonly callsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers that were not 2xx, and calls that got none. */
  readonly failures: number
  /** Of the server's processes, per 1,000 calls. */
  readonly cpuSecondsPerThousand: number
}

interface Shape {
  readonly connections: number
  readonly kind: Kind
}

/** The loads of a round. */
export const LOADS = {
  one: { connections: 1, kind: 'chat' },
  sixteen: { connections: 16, kind: 'chat' },
  sixtyFour: { connections: 64, kind: 'chat' },
  streams: { connections: 16, kind: 'stream' },
  long: { connections: 4, kind: 'long-chat' },
  quoted: { connections: 4, kind: 'quoted-chat' },
  embeddings: { connections: 4, kind: 'embeddings' },
} as const satisfies Record<string, Shape>
export type LoadName = keyof typeof LOADS

/** wrk at a target: as many calls as that many connections carry in so many seconds. */
export async function load(target: Running, shape: Shape, during: number, folder: string): Promise<LoadResult> {
  const script = join(folder, 'load.lua')
  await writeFile(script, lua(target, shape.kind))
  const args = ['-t1', `-c${shape.connections}`, `-d${during}s`, '--timeout', '10s', '-s', script]
  const before = cpuSeconds(target.pids)
  const printed = await run('wrk', [...args, target.url + ASKS[shape.kind].path], LOAD_CORE, (during + 20) * 1000)
  const used = cpuSeconds(target.pids) - before
  const { calls, seconds, p50Ms, p99Ms, failures } = JSON.parse(printed.slice(printed.lastIndexOf('{"calls"')))
  const cpuSecondsPerThousand = (used / Math.max(1, calls)) * 1000
  return { calls, callsPerSecond: calls / seconds, p50Ms, p99Ms, failures, cpuSecondsPerThousand }
}

const quoted = (text: string) => `[==[${text}]==]`

function lua(target: Running, kind: Kind): string {
  const headers = { 'content-type': 'application/json', ...target.headers }
  const lines = Object.entries(headers).map(([name, value]) => `wrk.headers[ ${quoted(name)} ] = ${quoted(value)}`)
  return `wrk.method = "POST"
wrk.body = ${quoted(ASKS[kind].body)}
${lines.join('\n')}
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format('{"calls":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"failures":%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
`
}
