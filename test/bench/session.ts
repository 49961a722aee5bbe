import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { busyShare, canPin, LOAD_CORE, start, stopAll } from './processes.ts'

/** What a measurement works in. */
export interface Session {
  /** An empty folder, gone afterwards. */
  readonly folder: string
  /** The far end, `http://127.0.0.1:…/v1`. */
  readonly upstreamUrl: string
}

export const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Runs a measurement with a far end, then ends everything that it started, and this process: with 0 where it was as it
 *  should be. A server that hangs does not leave the others running for ever. */
export async function session(limitSeconds: number, measure: (session: Session) => Promise<boolean>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
  const leave = async (code: number) => {
    await stopAll()
    await rm(folder, { recursive: true, force: true })
    process.exit(code)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leave(130))
  setTimeout(() => leave(124), limitSeconds * 1000).unref()
  try {
    if (!canPin) say('one core, or no taskset: nothing is pinned, and the figures mean little')
    say(`the machine was ${Math.round((await busyShare()) * 100)} % busy before the start`)
    await leave((await measure({ folder, upstreamUrl: await startFarEnd() })) ? 0 : 1)
  } catch (error) {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error))
    await leave(1)
  }
}

async function startFarEnd(): Promise<string> {
  const program = new URL('./mock-upstream.ts', import.meta.url).pathname
  const mock = start(process.execPath, [program], { core: LOAD_CORE })
  const [line] = (await once(mock.stdout as NonNullable<typeof mock.stdout>, 'data')) as [Buffer]
  return `http://127.0.0.1:${JSON.parse(line.toString()).port}/v1`
}

export function bounded(text: string | undefined, usual: number, most: number): number {
  const number = text === undefined ? usual : Number(text)
  if (!Number.isInteger(number) || number < 1 || number > most) throw new RangeError(`between 1 and ${most}: ${text}`)
  return number
}
