import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkAnswers } from './check.ts'
import { firstByte } from './first-byte.ts'
import { SLOTS } from './gateway-server.ts'
import { LOADS, type LoadName, type LoadResult, load } from './load.ts'
import { residentMegabytes } from './processes.ts'
import { profiled } from './profile.ts'
import { failuresOf, type Round, table } from './report.ts'
import { type Session, say } from './session.ts'
import { streamsAtOnce } from './streams-at-once.ts'
import { TARGETS } from './targets/index.ts'
import type { Running, Target } from './targets/target.ts'
import { toldOverhead } from './told-overhead.ts'

export interface Comparison {
  readonly quick: boolean
  readonly rounds: number
  readonly seconds: number
  /** Names of targets, and of loads; all of them where left out. */
  readonly only: readonly string[] | undefined
  readonly loads: readonly string[] | undefined
  readonly json?: string | undefined
  readonly peerNode: string
}

/** Measures targets side by side. Whether every call was answered rightly, ours left nothing behind, and no target is
 *  missing that was asked for by name. */
export async function compare(session: Session, how: Comparison): Promise<boolean> {
  const { rounds, seconds, only } = how
  const running = new Map<string, Running>()
  const faults: string[] = []
  for (const target of TARGETS) {
    if (only ? target.name !== 'direct' && !only.includes(target.name) : isLeftOut(target, how)) continue
    try {
      running.set(target.name, await warm(session, target, how))
    } catch (error) {
      const line = `${target.name}: not measured: ${(error as Error).message}`
      say(line)
      if (only?.includes(target.name)) faults.push(line)
    }
  }

  const results = new Map<string, Round[]>([...running.keys()].map((name) => [name, []]))
  for (let turn = 0; turn < rounds; turn++) {
    for (const [name, target] of rotated([...running], turn)) {
      results.get(name)?.push(await oneRound(session, target, how))
      say(`round ${turn + 1} of ${rounds}: ${name}`)
    }
  }

  for (const [name, target] of running) {
    await checkAnswers(target).catch((error) => faults.push(`${name}: wrong answers afterwards: ${error.message}`))
    const found = results.get(name) ?? []
    const failures = failuresOf(found)
    if (failures > 0) faults.push(`${name}: ${failures} calls failed`)
    if (TARGETS.some((one) => one.ours && one.name === name)) faults.push(...leftBehind(name, found))
    await target.stop?.()
  }
  say(`\nmedians of ${rounds} round(s) of ${seconds} s; node ${process.version}\n\n${table(results)}`)
  say(faults.length > 0 ? `\n${faults.join('\n')}` : '\nevery answer was right, and nothing was left behind')
  if (how.json) {
    const found = { rounds, seconds, faults, results: Object.fromEntries(results) }
    await writeFile(how.json, `${JSON.stringify(found, null, 1)}\n`)
  }
  return faults.length === 0
}

const isLeftOut = ({ onlyByName, onlyInFull }: Target, { quick }: Comparison) => onlyByName || (quick && onlyInFull)

/** Profiles one target of ours under one load. */
export async function profile(
  session: Session,
  { name, load: asked, seconds, file }: { name: string; load: LoadName; seconds: number; file: string },
): Promise<boolean> {
  const target = TARGETS.find((one) => one.name === name)
  if (!target) throw new RangeError(`there is no target '${name}'`)
  const how = { quick: false, peerNode: process.execPath }
  const found = await warm({ ...session, inspected: true }, target, how)
  if (found.inspectorPort === undefined) throw new RangeError(`'${name}' is no Node process of ours`)
  const shape = LOADS[asked]
  let result: LoadResult | undefined
  const said = await profiled(found.inspectorPort, file, async () => {
    result = await load(found, shape, seconds, session.folder)
  })
  say(`${name}, ${asked}: ${result?.calls} calls while sampled, ${result?.failures} of them failed\n\n${said}`)
  return result?.failures === 0
}

/** So many calls make code fast and fill what fills up, such as the lane of a sink whose far end is away; a slow target is
 *  called for so long. */
const WARM_CALLS = 20_000
const WARM_SECONDS = 20
const WARM_STEP = 4

/** Started, found to answer rightly, and called for a while. */
async function warm(
  session: Session & { readonly inspected?: boolean },
  target: Target,
  { quick, peerNode }: Pick<Comparison, 'quick' | 'peerNode'>,
): Promise<Running> {
  const folder = join(session.folder, target.name)
  await mkdir(folder)
  const { upstreamUrl, inspected = false } = session
  const found = await target.start({ upstreamUrl, folder, peerNode, inspected })
  await checkAnswers(found)
  for (let calls = 0, seconds = 0; calls < (quick ? 1 : WARM_CALLS) && seconds < WARM_SECONDS; seconds += WARM_STEP)
    calls += (await load(found, LOADS.sixteen, quick ? 1 : WARM_STEP, session.folder)).calls
  await load(found, LOADS.streams, 1, session.folder)
  return found
}

async function oneRound({ folder, upstreamUrl }: Session, target: Running, how: Comparison): Promise<Round> {
  const asked = (name: string) => !how.loads || how.loads.includes(name)
  const loads: Partial<Record<LoadName, LoadResult>> = {}
  let toldOverheadMs: number | undefined
  for (const name of Object.keys(LOADS).filter(asked) as LoadName[]) {
    const told = await toldOverhead(target)
    loads[name] = await load(target, LOADS[name], how.seconds, folder)
    if (name === 'one') toldOverheadMs = await told()
  }
  const resident = residentMegabytes(target.pids)
  return {
    loads,
    toldOverheadMs,
    firstByte: asked('first-byte') ? await firstByte(target, how.quick ? 60 : 400) : undefined,
    residentMegabytes: resident,
    streamsAtOnce: asked('streams-at-once')
      ? await streamsAtOnce(target, upstreamUrl, { streams: SLOTS, seconds: how.quick ? 1 : 5, paceMs: 100 })
      : undefined,
    starts: (how.loads ? asked('starts') : !how.quick) ? await target.startTimes?.() : undefined,
  }
}

/** What clients that left all at once have left to somebody. */
function leftBehind(name: string, rounds: readonly Round[]): string[] {
  return rounds.flatMap(({ streamsAtOnce: found }) => {
    if (!found) return []
    const { leftOpen, refusedAfterwards, failures } = found
    const faults = [
      failures > 0 && `${failures} of ${found.streams} streams were not begun`,
      leftOpen > 0 && `${leftOpen} upstream streams were open 1 s after their clients had left`,
      refusedAfterwards > 0 &&
        `${refusedAfterwards} of ${found.streams} slots were not free 1 s after their clients had left`,
    ]
    return faults.flatMap((fault) => (fault ? [`${name}: ${fault}`] : []))
  })
}

/** Each round begins with another target, so that none is always measured on a warm or a cold machine. */
function rotated<T>(list: readonly T[], by: number): T[] {
  return list.map((_, index) => list[(index + by) % list.length] as T)
}
