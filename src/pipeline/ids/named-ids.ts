import { GatewayError } from '../../lib/errors.ts'
import { wordsIn } from '../../lib/json/lazy-json.ts'
import { asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'

/** What an id refers to. `reference`: an object that the provider reads. `stored`: a conversation item of which the
 *  provider may hold more than the request contains. `hint`: an item that the request contains in full, but that its
 *  maker knows best. */
export type IdStanding = 'reference' | 'stored' | 'hint'

/** A reference in a request to a provider-created object. */
export interface NamedId {
  readonly id: string
  /** The path of the id in the request. */
  readonly param: string
  /** The kind of object, for error messages: `conversation`. */
  readonly kind: string
  readonly standing: IdStanding
}

/** A place of ids in the bodies of one dialect. */
export interface IdPlace {
  /** The path from the top, with `[]` for list items and `*` for object values: `tools[].vector_store_ids[]`. */
  readonly path: string
  readonly kind: string
  /** The standing, by the object that holds the id; undefined if it is no id. A reference by default. */
  readonly standing?: (holder: JsonRecord) => IdStanding | undefined
}

/** Places compiled to a tree: what may lie below a value, down to the ids. */
export interface IdPlaces {
  readonly members: readonly (readonly [name: string, below: IdPlaces])[]
  readonly items: IdPlaces | undefined
  /** The places below every value of an object. */
  readonly values: IdPlaces | undefined
  readonly id: Pick<IdPlace, 'kind' | 'standing'> | undefined
  /** The member names on each path to an id. */
  readonly ways: readonly (readonly string[])[]
  /** All names of all paths. */
  readonly memberNames: ReadonlySet<string>
}

/** More ids than the longest conversation has. */
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
  const memberNames = named.flat()
  const names = ways.flatMap(({ steps: [first = ''] }) => (memberNames.includes(first) ? [first] : []))
  return {
    members: [...new Set(names)].map((name) => [name, after(name) as IdPlaces] as const),
    items: after('[]'),
    values: after('*'),
    id: ways.find(({ steps }) => steps.length === 0)?.id,
    ways: named,
    memberNames: new Set(memberNames),
  }
}

/** All ids in a request, lists in order. A long member that cannot hold ids is not parsed. */
export function namedIds(request: ModelRequest, places: IdPlaces): NamedId[] {
  const search: Search = { way: [], found: [] }
  for (const [name, under] of places.members) {
    if (!Object.hasOwn(request, name)) continue
    const there = wordsIn(request, name, under.memberNames)
    if (there && !under.ways.some((names) => names.every((member) => there.has(member)))) continue
    search.way[0] = name
    find(request[name], request, under, 1, search)
  }
  return search.found
}

interface Search {
  /** The path to the current value; behind its depth it is that of a value before. */
  readonly way: (string | number)[]
  readonly found: NamedId[]
}

function find(value: unknown, holder: unknown, places: IdPlaces, depth: number, search: Search): void {
  if (typeof value === 'string') {
    if (places.id) take(value, holder, places.id, depth, search)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const { way } = search
  if (Array.isArray(value)) {
    if (!places.items) return
    for (let at = 0; at < value.length; at++) {
      way[depth] = at
      find(value[at], holder, places.items, depth + 1, search)
    }
    return
  }
  const record = value as JsonRecord
  for (const [name, under] of places.members) {
    const member = record[name]
    if (typeof member === 'string' && !under.id) continue
    if (member === undefined || member === null || !Object.hasOwn(record, name)) continue
    way[depth] = name
    find(member, record, under, depth + 1, search)
  }
  if (!places.values) return
  for (const [name, member] of Object.entries(record)) {
    way[depth] = name
    find(member, record, places.values, depth + 1, search)
  }
}

function take(
  id: string,
  holder: unknown,
  { kind, standing }: Omit<IdPlace, 'path'>,
  depth: number,
  { way, found }: Search,
): void {
  const stands = standing ? standing(asRecord(holder)) : 'reference'
  if (!stands) return
  const param = way.slice(0, depth).join('.')
  if (found.length >= MOST_IDS) throw new GatewayError('invalid_request', 'The request names too many ids.', { param })
  found.push({ id, param, kind, standing: stands })
}
