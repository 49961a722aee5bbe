import { type FactName, factsThat } from './call-facts.ts'
import { bucketOf, bucketsOf, LATENCIES } from './latency-sums.ts'
import { type ChargedRow, readerOf, type SpendRow } from './spend-row.ts'
import { ADDED_VALUES, SPEND_FRACTIONS, SPEND_SUMS, type SpendSum } from './spend-sums.ts'

/** Calls of one hour that differ only in measured facts. */
export interface Shape {
  /** Its index among the shapes. */
  readonly shape: number
  /** Any of its calls. */
  readonly example: SpendRow
  /** The common prefix of its calls' times. */
  readonly hour: string
  /** In the order of `SPEND_SUMS`. */
  readonly sums: Sum[]
}

/** The amount that a budget is charged in one period. */
export interface Charged {
  readonly subject: string
  readonly period: string
  readonly since: string | undefined
  nano: Sum
}

/** A number, or a bigint for integers that a number cannot hold exactly. */
export type Sum = number | bigint

/** Sums of calls by shape, to which calls are added one by one. */
export interface Fold {
  readonly shapes: readonly Shape[]
  readonly charges: readonly Charged[]
  /** Adds a call; returns the index of its shape. */
  add(row: ChargedRow): number
  /** Whether a call of this shape was added. */
  knows(row: SpendRow): boolean
}

const NONE: readonly never[] = []

/** The columns that calls have in common. */
export const SHAPE_COLUMNS = factsThat('alike')

type Added = (row: SpendRow) => number | null
const ADDED: readonly Added[] = Object.values(ADDED_VALUES)
const IS_FRACTION = SPEND_SUMS.map((name) => SPEND_FRACTIONS.has(name))
/** The index of each latency's first bucket. */
const BUCKETS = LATENCIES.map((latency) => ({ latency, first: SPEND_SUMS.indexOf(bucketsOf(latency)[0] as SpendSum) }))

/** `columns` are those that calls of one shape have in common in addition to the hour; they include key, deployment and
 *  tags. */
export function newFold(columns: readonly FactName[] = SHAPE_COLUMNS): Fold {
  const compared = columns.filter((column) => column !== 'tags').map(readerOf)
  const shapes: Shape[] = []
  /** By key, and by deployment and tags. */
  const shapesOf = new Map<string, Map<string, Shape[]>>()
  const charges: Charged[] = []
  const chargesOf = new Map<string, Charged[]>()

  /** The shape of a row. One key has few shapes at one deployment: comparing them costs less than building a key of all
   *  columns. */
  function shapeIn(row: SpendRow): Shape | undefined {
    for (const shape of shapesOf.get(row.key_id)?.get(placeOf(row)) ?? NONE) {
      if (row.at.startsWith(shape.hour) && areAlike(shape.example, row)) return shape
    }
    return undefined
  }

  function areAlike(one: SpendRow, other: SpendRow): boolean {
    // No iterator: it would be most of the garbage of a row.
    for (let index = 0; index < compared.length; index++) {
      const read = compared[index] as (typeof compared)[number]
      if (read(one) !== read(other)) return false
    }
    return true
  }

  function newShape(row: SpendRow): Shape {
    const made = { shape: shapes.length, example: row, hour: row.at.slice(0, HOUR), sums: SPEND_SUMS.map(() => 0) }
    shapes.push(made)
    const ofKey = shapesOf.get(row.key_id) ?? new Map<string, Shape[]>()
    shapesOf.set(row.key_id, ofKey)
    appended(ofKey, placeOf(row), made)
    return made
  }

  /** The charge of a subject in a period. A list suffices, since a subject has few periods at a time. */
  function chargeIn(subject: string, period: string, since: string | undefined): Charged {
    for (const one of chargesOf.get(subject) ?? NONE) if (one.period === period && one.since === since) return one
    const made = { subject, period, since, nano: 0 }
    charges.push(made)
    appended(chargesOf, subject, made)
    return made
  }

  function charge(row: ChargedRow, whole: number): void {
    for (const { subject, period, since, costNano = whole } of row.charges) {
      const charged = chargeIn(subject, period, since)
      charged.nano = sum(charged.nano, costNano)
    }
  }

  return {
    shapes,
    charges,
    knows: (row) => shapeIn(row) !== undefined,
    add(row) {
      const { shape, sums } = shapeIn(row) ?? newShape(row)
      for (let index = 0; index < ADDED.length; index++) {
        const value = (ADDED[index] as Added)(row)
        if (value) add(sums, index, value)
      }
      for (const { latency, first } of BUCKETS) {
        const bucket = bucketOf(row, latency)
        if (bucket !== undefined) add(sums, first + bucket, 1)
      }
      if (row.cost_nano) charge(row, row.cost_nano)
      return shape
    },
  }
}

function appended<Item>(lists: Map<string, Item[]>, name: string, item: Item): void {
  const list = lists.get(name)
  if (list) list.push(item)
  else lists.set(name, [item])
}

// No text of a row contains the separator, since Postgres cannot store it.
const SEPARATOR = '\0'

function placeOf({ deployment, tags }: SpendRow): string {
  return tags.length === 0 ? deployment : deployment + SEPARATOR + tags.join(SEPARATOR)
}

function add(sums: Sum[], index: number, value: Sum): void {
  const before = sums[index] as Sum
  sums[index] = IS_FRACTION[index] ? (before as number) + (value as number) : sum(before, value)
}

function sum(one: Sum, other: Sum): Sum {
  const both = typeof one === 'number' && typeof other === 'number' ? one + other : undefined
  return Number.isSafeInteger(both) ? (both as number) : BigInt(one) + BigInt(other)
}

/** A sum as JSON, which has no bigint: Postgres reads it from text. */
export function printed(sum: Sum): number | string {
  return typeof sum === 'bigint' ? String(sum) : sum
}

// The length of the prefix of an ISO 8601 time that identifies the hour.
const HOUR = '2026-01-01T00'.length
