import type { Fields } from '../../../../api/ui/records/record-fields.ts'
import { mistakesOf } from '../../../../config/load.ts'
import { sentence } from '../../../../config/sentences.ts'
import { type AdminApi, all } from '../admin-api.ts'
import { isSame, type Sections } from './document.ts'
import { byName, inFile, type Kind, type Mistake, type Named, nameOf, type World, whole } from './kind.ts'
import { kinds, sectionsIn } from './kinds.ts'
import { opened } from './secrets.ts'

/** What an import does with one record. */
export interface Step {
  readonly kind: Kind
  readonly name: string
  readonly outcome: 'created' | 'changed' | 'unchanged' | 'removed' | 'refused' | Unwritten
  /** The fields that change. */
  readonly fields: readonly string[]
  /** Why it is refused: places in the file. */
  readonly mistakes: readonly Mistake[]
  /** Writes it. */
  readonly write: (api: AdminApi) => Promise<void>
}

/** `failed`: the record at which the import stopped; `left`: those after it. */
type Unwritten = 'failed' | 'left'

export interface Plan {
  /** In the order in which they are written. */
  readonly steps: readonly Step[]
  /** Records of the installation that the file's sections do not have. */
  readonly others: number
}

export interface PlanOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Removes records that the file's sections do not have. */
  readonly prune: boolean
  /** Sends secrets of the file in the place of those that records have. */
  readonly resent: boolean
}

const NOTHING = async () => {}

/** Plans an import of these sections. It writes nothing. */
export async function planOf(api: AdminApi, wanted: Sections, options: PlanOptions): Promise<Plan> {
  const world = await worldOf(api, wanted)
  const steps = kinds.flatMap((kind) =>
    (wanted[kind.section] ?? []).map((record, index) => stepOf(kind, record, index, world, options)),
  )
  const others = kinds.flatMap((kind) => (wanted[kind.section] ? absentOf(kind, world) : []))
  return { steps: options.prune ? [...steps, ...others.reverse()] : steps, others: others.length }
}

/** Writes step by step, and reports each written step. It stops at the first that fails, because later ones may depend
 *  on it: nothing is written twice, and the same import again goes on from there. `replanned` then plans the rest anew,
 *  so that the report is right even for a record whose answer was lost or that takes several requests. */
export async function written(
  api: AdminApi,
  steps: readonly Step[],
  { replanned, report = () => {} }: { readonly replanned: () => Promise<Plan>; readonly report?: (step: Step) => void },
): Promise<Step[]> {
  for (const [index, step] of steps.entries()) {
    try {
      await step.write(api)
    } catch (error) {
      if (!(error instanceof Error) || error instanceof TypeError) throw error
      const left = await replanned().catch(() => undefined)
      const stopped = stoppedAt(step, error, left)
      const rest = steps.slice(index + 1)
      const behind = rest.map((one): Step => (one.outcome === 'unchanged' ? one : { ...one, outcome: 'left' }))
      for (const one of [stopped, ...behind]) report(one)
      return [...steps.slice(0, index), stopped, ...behind]
    }
    report(step)
  }
  return [...steps]
}

function stoppedAt(step: Step, error: Error, left: Plan | undefined): Step {
  const path = `${step.kind.section} ${step.name}`
  const failed = (message: string): Step => ({ ...step, outcome: 'failed', mistakes: [{ path, message }] })
  if (!left) return failed(`${error.message} It may be there, whole or in part.`)
  const again = left.steps.find(({ kind, name }) => kind === step.kind && name === step.name)
  // It was written, and only the answer did not arrive.
  if (!again || again.outcome === 'unchanged') return step
  if (again.outcome !== 'changed') return failed(error.message)
  return failed(`${error.message} What is left of it: ${again.fields.join(', ')}.`)
}

async function worldOf(api: AdminApi, wanted: Sections): Promise<World> {
  const now = await sectionsIn(api)
  const fromFile = async (path: string, field: string) => {
    const found = (await all(api, path)).filter(({ source }) => source === 'file')
    return new Set(found.map((record) => String(record[field])))
  }
  const ofFile = {
    models: await fromFile('/ui/api/models', 'model_name'),
    servers: await fromFile('/ui/api/mcp-servers', 'server_key'),
  }
  return { now: byName(kinds, now), wanted: byName(kinds, wanted), ofFile }
}

const recordOf = (named: Named, { section }: Kind, name: string) => named.get(section)?.get(name)

function stepOf(kind: Kind, given: Fields, index: number, world: World, options: PlanOptions): Step {
  const name = nameOf(kind, given)
  const found = recordOf(world.now, kind, name)
  const before = found && whole(kind, found)
  const { sent, shown, mistakes } = opened(kind, given, before, options)
  const wrong = [...shapeOf(kind, given, world), ...mistakes]
  const parsed = wrong.length > 0 ? { mistakes: wrong, record: sent } : parse(kind, sent)
  const record = normalised(kind, parsed.record, before)
  const check = parsed.mistakes.length > 0 ? undefined : kind.check?.(record, world, before)
  const all = check ? [...parsed.mistakes, check] : parsed.mistakes
  const step = { kind, name, fields: [], mistakes: [] }
  if (all.length > 0) {
    const place = `${kind.section}[${index}]`
    const placed = all.map(({ path, message }) => ({ path: path === '' ? place : `${place}.${path}`, message }))
    return { ...step, outcome: 'refused', mistakes: placed, write: NOTHING }
  }
  if (!before) return { ...step, outcome: 'created', write: (api) => kind.create(api, record) }
  const after = whole(kind, normalised(kind, kind.storesParsed ? parsed.record : shown, before))
  const fields = Object.keys(kind.fields).filter((field) => !isSame(after[field], before[field]))
  if (fields.length === 0) return { ...step, outcome: 'unchanged', write: NOTHING }
  return { ...step, outcome: 'changed', fields, write: (api) => kind.change(api, record, before) }
}

/** The record with nothing in it that says nothing. */
function normalised(kind: Kind, record: Fields, before: Fields | undefined): Fields {
  return inFile(kind, kind.normal?.(record, before) ?? record)
}

/** What is wrong with a record whatever its fields hold. */
function shapeOf(kind: Kind, given: Fields, { wanted }: World): Mistake[] {
  const unnamed = kind.id.filter((field) => typeof given[field] !== 'string' || given[field] === '')
  if (unnamed.length > 0) return unnamed.map((path) => ({ path, message: `is required: it names the ${kind.noun}` }))
  const known = new Set([...kind.id, ...Object.keys(kind.fields)])
  const unknown = Object.keys(given).filter((field) => !known.has(field))
  const mistakes = unknown.map((path) => ({ path, message: `is no field of a ${kind.noun} here` }))
  // Of records of one name the last one was kept.
  const isLast = recordOf(wanted, kind, nameOf(kind, given)) === given
  return isLast ? mistakes : [...mistakes, { path: '', message: `stands twice in the file; keep one of them` }]
}

/** Has the schemas of the admin API say what they think of a record. */
function parse(kind: Kind, record: Fields): { readonly mistakes: readonly Mistake[]; readonly record: Fields } {
  const results = kind.parts(record).map(({ schema, value, at }) => ({
    at,
    result: schema.safeParse(value, { error: sentence }),
  }))
  const mistakes = results.flatMap(({ at, result }) =>
    (result.error?.issues ?? []).flatMap(mistakesOf).map(({ path, message }) => ({
      path: [at, path === 'top level' ? '' : path].filter((part) => part !== '').join('.'),
      message,
    })),
  )
  const [first] = results
  const isParsed = kind.storesParsed && first?.result.success
  return { mistakes, record: isParsed ? (first.result.data as Fields) : record }
}

function absentOf(kind: Kind, { now, wanted }: World): Step[] {
  const records = [...(now.get(kind.section)?.entries() ?? [])]
  return records
    .filter(([name]) => !recordOf(wanted, kind, name))
    .map(([name, record]) => ({
      kind,
      name,
      outcome: 'removed',
      fields: [],
      mistakes: [],
      write: (api) => kind.remove(api, record),
    }))
}
