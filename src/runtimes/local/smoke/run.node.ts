import { ANSWER_MS, boundsWith } from './bounds.ts'
import { type Check, failed, notChecked, type Verdict } from './check.node.ts'
import { checks } from './checks/index.node.ts'
import { farEnd as farEndOf, inShort, jsonOf } from './far-end.node.ts'
import { type Scene, sceneOf } from './scene.node.ts'

export interface SmokeOptions {
  readonly url: string
  readonly key: string
  /** By default the first that the key may call. */
  readonly model?: string | undefined
  /** Names of checks; by default all. */
  readonly only?: readonly string[] | undefined
  /** What the bounds are multiplied by. */
  readonly patience?: number | undefined
  /** When it aborts, no further check begins; temporary keys are deleted. */
  readonly signal?: AbortSignal | undefined
}

export interface Row extends Verdict {
  readonly name: string
  readonly promise: string
}

export interface Report {
  readonly url: string
  readonly model: string
  /** Whether the key may administer. */
  readonly admin: boolean
  readonly rows: readonly Row[]
}

/** The test cannot begin: the deployment is not there, or the key is none of its keys. */
export class SmokeRefusal extends Error {}

/** Runs the checks one after the other. Whatever happens, temporary keys are deleted at the end. */
export async function runSmoke(options: SmokeOptions, told: (row: Row) => void = () => {}): Promise<Report> {
  const { url, key, only, patience = 1, signal } = options
  const unknown = only?.filter((name) => !checks.some((check) => check.name === name)) ?? []
  if (unknown.length > 0) {
    throw new SmokeRefusal(
      `There is no check ${unknown.join(', ')}. There are: ${checks.map((c) => c.name).join(', ')}`,
    )
  }
  const bounds = boundsWith(patience)
  const farEnd = farEndOf(url, ANSWER_MS)
  const first = await firstModel(farEnd, key)
  const model = options.model ?? first
  if (model === undefined) throw new SmokeRefusal('The key may call no model. Name one with --model.')
  const admin = (await farEnd.ask({ path: '/ui/api/instance', key })).status === 200
  const scene = sceneOf({ farEnd, key, model, bounds })
  const rows: Row[] = []
  const tell = ({ name, promise }: Pick<Check, 'name' | 'promise'>, verdict: Verdict) => {
    const row = { name, promise, ...verdict }
    rows.push(row)
    told(row)
  }
  try {
    for (const check of checks) {
      if (only && !only.includes(check.name)) continue
      if (signal?.aborted) break
      tell(
        check,
        check.needsAdmin && !admin ? notChecked('needs a key that may administer') : await verdictOf(check, scene),
      )
    }
  } finally {
    const left = await scene.keys.clear()
    if (left.length > 0) {
      const cleanup = { name: 'cleanup', promise: 'temporary keys are deleted' }
      tell(cleanup, failed(`delete these yourself (they end within an hour): ${left.join(', ')}`))
    }
  }
  return { url: farEnd.url, model, admin, rows }
}

async function firstModel(farEnd: Scene['farEnd'], key: string): Promise<string | undefined> {
  const answer = await farEnd.ask({ path: '/v1/models', key }).catch((error: Error) => {
    throw new SmokeRefusal(`${farEnd.url} cannot be reached: ${error.message || (error as NodeJS.ErrnoException).code}`)
  })
  if (answer.status === 401 || answer.status === 403) throw new SmokeRefusal(`The key is refused: ${inShort(answer)}`)
  if (answer.status !== 200) throw new SmokeRefusal(`${farEnd.url}/v1/models answers ${inShort(answer)}`)
  return (jsonOf(answer) as { data?: { id?: string }[] } | undefined)?.data?.[0]?.id
}

async function verdictOf(check: Check, scene: Scene): Promise<Verdict> {
  try {
    return await check.run(scene)
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error))
  }
}
