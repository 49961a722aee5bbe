import { factsThat } from './call-facts.ts'
import { bucketOf, bucketsOf, LATENCIES } from './latency-sums.ts'
import type { ChargedRow, SpendRow } from './spend-row.ts'
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

/** The columns that calls have in common. */
export const SHAPE_COLUMNS = factsThat('alike')

type Added = (row: SpendRow) => number | null
const ADDED: readonly Added[] = Object.values(ADDED_VALUES)
const IS_FRACTION = SPEND_SUMS.map((name) => SPEND_FRACTIONS.has(name))
/** The index of each latency's first bucket. */
const BUCKETS = LATENCIES.map((latency) => ({ latency, first: SPEND_SUMS.indexOf(bucketsOf(latency)[0] as SpendSum) }))

/** `columns` are those that calls of one shape have in common in addition to the hour; they include key, deployment and
 *  tags. */
export function newFold(columns: readonly (keyof SpendRow)[] = SHAPE_COLUMNS): Fold {
  const compared = columns.filter((column) => column !== 'tags')
  const shapes: Shape[] = []
  const shapesOfPayer = new Map<string, Shape[]>()
  const charges: Charged[] = []
  const chargesOf = new Map<string, Charged[]>()

  /** The shape of a row. One payer has few shapes at one deployment: comparing them costs less than building a key of
   *  all columns. */
  function shapeIn(row: SpendRow): Shape | undefined {
    return shapesOfPayer
      .get(payerOf(row))
      ?.find(
        ({ example, hour }) => row.at.startsWith(hour) && compared.every((column) => example[column] === row[column]),
      )
  }

  function newShape(row: SpendRow): Shape {
    const made = { shape: shapes.length, example: row, hour: row.at.slice(0, HOUR), sums: SPEND_SUMS.map(() => 0) }
    shapes.push(made)
    appended(shapesOfPayer, payerOf(row), made)
    return made
  }

  /** Charges the budgets of a call. A list suffices, since a subject has few periods at a time. */
  function charge(row: ChargedRow, whole: number): void {
    for (const { subject, period, costNano: nano = whole } of row.charges) {
      const found = chargesOf.get(subject)?.find((one) => one.period === period)
      if (found) {
        found.nano = sum(found.nano, nano)
        continue
      }
      const made = { subject, period, nano }
      charges.push(made)
      appended(chargesOf, subject, made)
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

function payerOf({ key_id, deployment, tags }: SpendRow): string {
  const payer = key_id + SEPARATOR + deployment
  return tags.length === 0 ? payer : payer + SEPARATOR + tags.join(SEPARATOR)
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
