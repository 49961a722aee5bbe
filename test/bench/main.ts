import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkAnswers } from './check.ts'
import { firstByte } from './first-byte.ts'
import { LOADS, type LoadName, type LoadResult, load } from './load.ts'
import { busyShare, canPin, LOAD_CORE, residentMegabytes, start, stopAll } from './processes.ts'
import { failuresOf, type Round, table } from './report.ts'
import { TARGETS } from './targets/index.ts'
import type { Running } from './targets/target.ts'

const USAGE = `node test/bench/main.ts [--quick] [--rounds 3] [--seconds 4] [--only nginx,gateway] [--loads long,embeddings] [--json out.json] [--peer-node path]
Measures the gateway beside ${TARGETS.map((target) => target.name).join(', ')}, each call answered by a far end on this machine.
Loads: ${Object.keys(LOADS).join(', ')}, first-byte; all of them without --loads.`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string' },
    loads: { type: 'string' },
    json: { type: 'string' },
    'peer-node': { type: 'string', default: process.execPath },
    help: { type: 'boolean', default: false },
  },
})
const rounds = bounded(options.rounds, options.quick ? 1 : 3, 20)
const seconds = bounded(options.seconds, options.quick ? 2 : 4, 60)
const streams = options.quick ? 150 : 400
const only = options.only?.split(',')
const chosen = options.loads?.split(',')
const unknown = chosen?.find((name) => name !== 'first-byte' && !Object.hasOwn(LOADS, name))
if (unknown !== undefined) throw new RangeError(`no load '${unknown}'`)
const say = (line: string) => process.stdout.write(`${line}\n`)

if (options.help) say(USAGE)
else await main()

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
  const leave = async (code: number) => {
    await stopAll()
    await rm(folder, { recursive: true, force: true })
    process.exit(code)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leave(130))
  // A server that hangs must not leave the others running for ever.
  setTimeout(() => leave(124), (rounds * TARGETS.length * (seconds * 6 + 20) + 120) * 1000).unref()
  try {
    await leave((await measure(folder)) ? 0 : 1)
  } catch (error) {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error))
    await leave(1)
  }
}

/** Whether every call was answered rightly, and no target is missing that was asked for by name. */
async function measure(folder: string): Promise<boolean> {
  if (!canPin) say('one core, or no taskset: nothing is pinned, and the figures mean little')
  say(`the machine was ${Math.round((await busyShare()) * 100)} % busy before the start`)
  const upstreamUrl = await startMock()
  const running = new Map<string, Running>()
  const faults: string[] = []
  for (const target of TARGETS) {
    if (only && target.name !== 'direct' && !only.includes(target.name)) continue
    const place = join(folder, target.name)
    await mkdir(place)
    try {
      const found = await target.start({ upstreamUrl, folder: place, peerNode: options['peer-node'] })
      await checkAnswers(found)
      await load(found, LOADS.sixteen, options.quick ? 2 : 5, folder)
      await load(found, LOADS.streams, 1, folder)
      running.set(target.name, found)
    } catch (error) {
      const line = `${target.name}: not measured: ${(error as Error).message}`
      say(line)
      if (only?.includes(target.name)) faults.push(line)
    }
  }

  const results = new Map<string, Round[]>([...running.keys()].map((name) => [name, []]))
  for (let turn = 0; turn < rounds; turn++) {
    for (const [name, target] of rotated([...running], turn)) {
      results.get(name)?.push(await oneRound(target, folder))
      say(`round ${turn + 1} of ${rounds}: ${name}`)
    }
  }

  for (const [name, target] of running) {
    await checkAnswers(target).catch((error) => faults.push(`${name}: wrong answers afterwards: ${error.message}`))
    const failures = failuresOf(results.get(name) ?? [])
    if (failures > 0) faults.push(`${name}: ${failures} calls failed`)
  }
  say(`\nmedians of ${rounds} round(s) of ${seconds} s; node ${process.version}\n\n${table(results)}`)
  if (faults.length > 0) say(`\n${faults.join('\n')}`)
  if (options.json)
    await writeFile(
      options.json,
      `${JSON.stringify({ rounds, seconds, faults, results: Object.fromEntries(results) }, null, 1)}\n`,
    )
  return faults.length === 0
}

async function oneRound(target: Running, folder: string): Promise<Round> {
  const asked = (name: string) => !chosen || chosen.includes(name)
  const loads: Partial<Record<LoadName, LoadResult>> = {}
  for (const name of Object.keys(LOADS).filter(asked) as LoadName[]) {
    loads[name] = await load(target, LOADS[name], seconds, folder)
  }
  return {
    loads,
    firstByte: asked('first-byte') ? await firstByte(target, streams) : undefined,
    residentMegabytes: residentMegabytes(target.pids),
  }
}

async function startMock(): Promise<string> {
  const program = new URL('./mock-upstream.ts', import.meta.url).pathname
  const mock = start(process.execPath, [program], { core: LOAD_CORE })
  const [line] = (await once(mock.stdout as NonNullable<typeof mock.stdout>, 'data')) as [Buffer]
  return `http://127.0.0.1:${JSON.parse(line.toString()).port}/v1`
}

/** Each round begins with another target, so that none is always measured on a warm or a cold machine. */
function rotated<T>(list: readonly T[], by: number): T[] {
  return list.map((_, index) => list[(index + by) % list.length] as T)
}

function bounded(text: string | undefined, usual: number, most: number): number {
  const number = text === undefined ? usual : Number(text)
  if (!Number.isInteger(number) || number < 1 || number > most) throw new RangeError(`between 1 and ${most}: ${text}`)
  return number
}
