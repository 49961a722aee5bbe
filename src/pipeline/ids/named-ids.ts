import { GatewayError } from '../../lib/errors.ts'
import { wordsIn } from '../../lib/lazy-json.ts'
import { asRecord, type JsonRecord } from '../../lib/lenient.ts'
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

/** A table of places, read once. */
export interface IdPlaces {
  readonly rows: readonly Row[]
  /** By the member at the top, all that can lie on the way to an id in it. */
  readonly words: ReadonlyMap<string, ReadonlySet<string>>
}

interface Row extends IdPlace {
  readonly top: string
  readonly steps: readonly string[]
  /** The members below the top one that have to be there. */
  readonly words: readonly string[]
}

/** More than the longest conversation has. */
const MOST_IDS = 10_000

export function idPlaces(places: readonly IdPlace[]): IdPlaces {
  const words = new Map<string, Set<string>>()
  const rows = places.map((place) => {
    const [top = '', ...steps] = place.path.split(/\.|(?=\[\])/)
    const row = { ...place, top, steps, words: steps.filter((step) => step !== '[]' && step !== '*') }
    const known = words.get(top) ?? new Set()
    for (const word of row.words) known.add(word)
    words.set(top, known)
    return row
  })
  return { rows, words }
}

/** Every id that a request names, in the order of the table. A long member that can hold none is not built. */
export function namedIds(request: ModelRequest, { rows, words }: IdPlaces): NamedId[] {
  const found: NamedId[] = []
  const seen = new Map<string, ReadonlySet<string> | undefined>()
  for (const row of rows) {
    const { top, steps } = row
    if (!Object.hasOwn(request, top)) continue
    if (!seen.has(top)) seen.set(top, wordsIn(request, top, words.get(top) ?? new Set()))
    const there = seen.get(top)
    if (!there || row.words.every((word) => there.has(word))) find(request[top], request, steps, top, row, found)
  }
  return found
}

function find(
  value: unknown,
  holder: unknown,
  steps: readonly string[],
  param: string,
  row: Row,
  found: NamedId[],
): void {
  if (value === undefined || value === null) return
  const [step, ...rest] = steps
  if (step === undefined) {
    if (typeof value !== 'string') return
    const standing = row.standing ? row.standing(asRecord(holder)) : 'reference'
    if (standing) found.push({ id: value, param, kind: row.kind, standing })
    if (found.length > MOST_IDS) throw new GatewayError('invalid_request', 'The request names too many ids.', { param })
    return
  }
  if (step === '[]') {
    if (!Array.isArray(value)) return
    for (let at = 0; at < value.length; at++) find(value[at], holder, rest, `${param}.${at}`, row, found)
    return
  }
  if (typeof value !== 'object' || Array.isArray(value)) return
  if (step === '*') {
    for (const [name, one] of Object.entries(value)) find(one, value, rest, `${param}.${name}`, row, found)
  } else if (Object.hasOwn(value, step)) {
    find((value as JsonRecord)[step], value, rest, `${param}.${step}`, row, found)
  }
}
