import { GatewayError } from '../../lib/errors.ts'
import { wordsIn } from '../../lib/json/lazy-json.ts'
import { asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'

/** What an id in a request stands for. `reference`: something that the provider reads for it. `stored`: an item of the
 *  conversation of which the provider may have more than the request says. `hint`: it is there in full, and its maker
 *  knows it best. */
export type Standing = 'reference' | 'stored' | 'hint'

/** An id that a provider made, as a request names it. */
export interface NamedId {
  readonly id: string
  /** Where it stands. */
  readonly param: string
  /** What it is the id of, for a refusal: `conversation`. */
  readonly kind: string
  readonly standing: Standing
}

/** Where ids stand in the bodies of one dialect. */
export interface IdPlace {
  /** Members from the top, `[]` for each of a list, `*` for each of an object: `tools[].vector_store_ids[]`. */
  readonly path: string
  readonly kind: string
  /** By the object that the id is a member of; undefined: it is none. A reference when left out. */
  readonly standing?: (holder: JsonRecord) => Standing | undefined
}

/** A table of places, read once: what may lie below a value, down to ids. */
export interface IdPlaces {
  readonly members: readonly (readonly [name: string, below: IdPlaces])[]
  readonly items: IdPlaces | undefined
  /** Below whatever an object has. */
  readonly values: IdPlaces | undefined
  readonly id: Pick<IdPlace, 'kind' | 'standing'> | undefined
  /** The names on each way to an id. */
  readonly ways: readonly (readonly string[])[]
  /** All of them. */
  readonly words: ReadonlySet<string>
}

/** More than the longest conversation has. */
const MOST_IDS = 10_000

export function idPlaces(places: readonly IdPlace[]): IdPlaces {
  const ways = places.map(({ path, ...id }) => ({ steps: path.split(/\.|(?=\[\])/), id }))
  return below(ways)
}

interface Way {
  readonly steps: readonly string[]
  readonly id: Omit<IdPlace, 'path'>
}

function below(ways: readonly Way[]): IdPlaces {
  const after = (step: string): IdPlaces | undefined => {
    const further = ways.filter(({ steps }) => steps[0] === step)
    return further.length === 0 ? undefined : below(further.map(({ steps, id }) => ({ steps: steps.slice(1), id })))
  }
  const named = ways.map(({ steps }) => steps.filter((step) => step !== '[]' && step !== '*'))
  const words = named.flat()
  const names = ways.flatMap(({ steps: [first = ''] }) => (words.includes(first) ? [first] : []))
  return {
    members: [...new Set(names)].map((name) => [name, after(name) as IdPlaces] as const),
    items: after('[]'),
    values: after('*'),
    id: ways.find(({ steps }) => steps.length === 0)?.id,
    ways: named,
    words: new Set(words),
  }
}

/** Every id that a request names, those of one list in its order. A long member that can hold none is not built. */
export function namedIds(request: ModelRequest, places: IdPlaces): NamedId[] {
  const found: NamedId[] = []
  const way: (string | number)[] = []
  for (const [name, under] of places.members) {
    if (!Object.hasOwn(request, name)) continue
    const there = wordsIn(request, name, under.words)
    if (there && !under.ways.some((words) => words.every((word) => there.has(word)))) continue
    way[0] = name
    find(request[name], request, under, { way, depth: 1, found })
  }
  return found
}

interface Search {
  /** To the value that is looked at; what lies deeper is of another one. */
  readonly way: (string | number)[]
  readonly depth: number
  readonly found: NamedId[]
}

function find(value: unknown, holder: unknown, places: IdPlaces, search: Search): void {
  const { way, depth, found } = search
  if (typeof value === 'string') {
    if (places.id) take(value, holder, places.id, search)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const deeper = { way, depth: depth + 1, found }
  if (Array.isArray(value)) {
    if (!places.items) return
    for (let at = 0; at < value.length; at++) {
      way[depth] = at
      find(value[at], holder, places.items, deeper)
    }
    return
  }
  const record = value as JsonRecord
  for (const [name, under] of places.members) {
    const member = record[name]
    if (member === undefined || member === null || !Object.hasOwn(record, name)) continue
    way[depth] = name
    find(member, record, under, deeper)
  }
  if (!places.values) return
  for (const [name, member] of Object.entries(record)) {
    way[depth] = name
    find(member, record, places.values, deeper)
  }
}

function take(id: string, holder: unknown, { kind, standing }: Omit<IdPlace, 'path'>, search: Search): void {
  const { way, depth, found } = search
  const stands = standing ? standing(asRecord(holder)) : 'reference'
  if (!stands) return
  const param = way.slice(0, depth).join('.')
  if (found.length >= MOST_IDS) throw new GatewayError('invalid_request', 'The request names too many ids.', { param })
  found.push({ id, param, kind, standing: stands })
}
