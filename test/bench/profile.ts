import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Frame, flameGraph } from './flame-graph.ts'
import { inspector } from './inspector.ts'

/** What of a V8 CPU profile is read here. */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
    /** The nodes of what it called. */
    readonly children?: readonly number[]
  }[]
  /** The node of each sample, and the microseconds since the one before. */
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** Samples the JavaScript of a Node process, by its inspector, while something runs; writes the profile to a file, which
 *  browsers and editors open, and a flame graph beside it, and answers what they say. */
export async function profiled(inspectorPort: number, file: string, run: () => Promise<unknown>): Promise<string> {
  const v8 = await inspector(inspectorPort)
  await v8.ask('Profiler.enable')
  await v8.ask('Profiler.setSamplingInterval', { interval: 500 })
  await v8.ask('Profiler.start')
  await run()
  const { profile } = await v8.ask<{ profile: CpuProfile }>('Profiler.stop')
  v8.close()
  const picture = `${file}.svg`
  await writeFile(file, JSON.stringify(profile))
  await writeFile(picture, flameGraph('Where the CPU time of a call goes', framesOf(profile)))
  return `${topOf(profile)}\n\nthe whole profile: ${file}\na flame graph: ${picture}`
}

function spentIn({ samples, timeDeltas }: CpuProfile): Map<number, number> {
  const spent = new Map<number, number>()
  for (const [at, id] of samples.entries()) spent.set(id, (spent.get(id) ?? 0) + (timeDeltas[at] ?? 0))
  return spent
}

/** The tree of calls, without the time in which nothing was done. A function that is called from one place is one frame,
 *  however often it was compiled anew. */
function framesOf(profile: CpuProfile): Frame {
  const spent = spentIn(profile)
  const byId = new Map(profile.nodes.map((node) => [node.id, node]))
  const root: Frame = { name: 'all', area: '', time: 0, calls: new Map() }
  function add(id: number, within: Frame): number {
    const node = byId.get(id)
    if (!node || node.callFrame.functionName === '(idle)') return 0
    const { functionName, url } = node.callFrame
    const place = placeOf(url)
    const name = place === '' ? functionName || '(anonymous)' : `${functionName || '(anonymous)'} ${place}`
    const frame = within.calls.get(name) ?? { name, area: place && areaOf(place), time: 0, calls: new Map() }
    within.calls.set(name, frame)
    const time = (spent.get(id) ?? 0) + (node.children ?? []).reduce((sum, child) => sum + add(child, frame), 0)
    frame.time += time
    return time
  }
  for (const child of profile.nodes[0]?.children ?? []) root.time += add(child, root)
  return root
}

const SHOWN = 25

/** The areas, files and functions in which the time was spent, not that of what they called. */
function topOf(profile: CpuProfile): string {
  const { nodes, timeDeltas } = profile
  const spent = spentIn(profile)
  const areas = new Map<string, number>()
  const files = new Map<string, number>()
  const functions = new Map<string, number>()
  let busy = 0
  for (const { id, callFrame } of nodes) {
    const time = spent.get(id) ?? 0
    const { functionName, url, lineNumber } = callFrame
    if (time === 0 || functionName === '(idle)') continue
    busy += time
    const place = placeOf(url)
    const called = functionName || '(anonymous)'
    for (const [times, name] of [
      [areas, areaOf(place) || called],
      [files, place || called],
      [functions, place === '' ? called : `${called}  ${place}:${lineNumber + 1}`],
    ] as const) {
      times.set(name, (times.get(name) ?? 0) + time)
    }
  }
  const all = timeDeltas.reduce((sum, delta) => sum + delta, 0)
  const share = (time: number) => `${((100 * time) / busy).toFixed(1).padStart(5)} %`
  const table = (times: Map<string, number>) =>
    [...times]
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, SHOWN)
      .map(([name, time]) => `${share(time)}  ${name}`)
      .join('\n')
  const total = `busy ${Math.round((100 * busy) / all)} % of ${(all / 1e6).toFixed(1)} s; shares of what was busy, by self time`
  return `${total}\n\nareas\n${table(areas)}\n\nfiles\n${table(files)}\n\nfunctions\n${table(functions)}`
}

/** A folder of our source, a package, or what Node does for one purpose. */
function areaOf(place: string): string {
  if (place.startsWith('node:'))
    return /^node:(_?http|net|internal\/(streams|stream_base))/.test(place) ? 'node:http' : 'node:…'
  const [first = '', second = ''] = place.split('/')
  return first === 'src' || first.startsWith('@') ? `${first}/${second}` : first
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

function placeOf(url: string): string {
  return (url.startsWith('file://') ? fileURLToPath(url) : url).replace(ROOT, '').replace(/^.*node_modules\//, '')
}
