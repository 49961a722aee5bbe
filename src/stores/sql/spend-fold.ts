import type { ChargedRow, SpendRow } from './spend-rows.ts'
import { SPEND_DIMENSIONS, SPEND_FRACTIONS, SPEND_SUMS } from './spend-sums.ts'

/** Calls that differ in nothing but what was measured of each, in one hour. */
export interface Shape {
  /** Its place among the shapes. */
  readonly shape: number
  /** Any of them. */
  readonly example: SpendRow
  readonly hour: string
  readonly sums: Sums
}

/** Rows to be added to a table of sums: its keys and the sums by name. */
export type SumRow = Readonly<Record<string, string | number>>

/** What a batch of calls adds to everything but the ledger itself. */
export interface Fold {
  readonly shapes: readonly Shape[]
  /** Of every row, the place of its shape. */
  readonly shapeOf: readonly number[]
  readonly charges: readonly SumRow[]
  readonly totals: readonly SumRow[]
  readonly rollup: readonly SumRow[]
  readonly tagRollup: readonly SumRow[]
}

/** The columns that calls have in common. */
export const SHAPE_COLUMNS = [
  'endpoint',
  'mode',
  'requested_model',
  'model',
  'deployment',
  'provider',
  'key_id',
  'team_id',
  'organization_id',
  'user_id',
  'streamed',
  'ending',
  'status',
  'error_type',
  'cache',
  'attempts',
  'rescued',
  'estimated',
  'tags',
] as const satisfies readonly (keyof SpendRow)[]

const SUM_NAMES = Object.keys(SPEND_SUMS)
type Added = (row: SpendRow) => number
const ADDED: readonly Added[] = Object.values(SPEND_SUMS)
const IS_FRACTION = SUM_NAMES.map((name) => SPEND_FRACTIONS.has(name))

/** Adds up a batch here rather than in the database: one pass over the calls, and the rest over their few shapes. */
export function fold(rows: readonly ChargedRow[]): Fold {
  const shapes: Shape[] = []
  const shapesOfPayer = new Map<string, Shape[]>()
  const charges: Charged[] = []
  const chargesOf = new Map<string, Charged[]>()
  const shapeOf = rows.map((row) => {
    const shape = shapeIn(shapesOfPayer, row) ?? newShape(shapes, shapesOfPayer, row)
    for (let index = 0; index < ADDED.length; index++) add(shape.sums, index, (ADDED[index] as Added)(row))
    if (row.cost_nano) charge(charges, chargesOf, row, row.cost_nano)
    return shape.shape
  })

  const totals = new Map<string, SumsAt>()
  const rollup = new Map<string, SumsAt>()
  const tagRollup = new Map<string, SumsAt>()
  for (const { example, sums } of shapes) {
    const dimensions = Object.fromEntries(SPEND_DIMENSIONS.map((name) => [name, example[name]]))
    for (const time of bucketsOf(example.at)) {
      grow(rollup, { ...time, ...dimensions }, sums)
      grow(totals, { ...time, dimension: 'all', value: '' }, sums)
      for (const dimension of SPEND_DIMENSIONS) grow(totals, { ...time, dimension, value: example[dimension] }, sums)
      for (const tag of example.tags) {
        grow(tagRollup, { ...time, tag, ...dimensions }, sums)
        grow(totals, { ...time, dimension: 'tag', value: tag }, sums)
      }
    }
  }
  return {
    shapes,
    shapeOf,
    charges: charges.map(({ subject, period, nano }) => ({ subject, period, spent_nano: printed(nano) })),
    totals: sumRows(totals),
    rollup: sumRows(rollup),
    tagRollup: sumRows(tagRollup),
  }
}

// No text of a row holds the separator: Postgres could not keep it.
const SEPARATOR = '\0'

/** Few calls of one payer at one deployment differ in shape: comparing them is cheaper than a name made of all that they
 *  have in common. */
function shapeIn(shapes: ReadonlyMap<string, readonly Shape[]>, row: SpendRow): Shape | undefined {
  return shapes
    .get(payerOf(row))
    ?.find(
      ({ example, hour }) => row.at.startsWith(hour) && COMPARED.every((column) => example[column] === row[column]),
    )
}

function newShape(shapes: Shape[], shapesOfPayer: Map<string, Shape[]>, row: SpendRow): Shape {
  const made = { shape: shapes.length, example: row, hour: row.at.slice(0, HOUR), sums: ADDED.map(() => 0) }
  shapes.push(made)
  const payer = payerOf(row)
  const others = shapesOfPayer.get(payer)
  if (others) others.push(made)
  else shapesOfPayer.set(payer, [made])
  return made
}

const COMPARED = SHAPE_COLUMNS.filter((column) => column !== 'tags')

function payerOf({ key_id, deployment, tags }: SpendRow): string {
  const payer = key_id + SEPARATOR + deployment
  return tags.length === 0 ? payer : payer + SEPARATOR + tags.join(SEPARATOR)
}

interface Charged {
  readonly subject: string
  readonly period: string
  nano: Sum
}

/** Subjects have few periods at a time. */
function charge(charges: Charged[], chargesOf: Map<string, Charged[]>, row: ChargedRow, nano: number): void {
  for (const { subject, period } of row.charges) {
    const known = chargesOf.get(subject)
    const found = known?.find((one) => one.period === period)
    if (found) {
      found.nano = sum(found.nano, nano)
      continue
    }
    const made = { subject, period, nano }
    charges.push(made)
    if (known) known.push(made)
    else chargesOf.set(subject, [made])
  }
}

type Keys = Readonly<Record<string, string>>
interface SumsAt {
  readonly keys: Keys
  readonly sums: Sums
}

function grow(into: Map<string, SumsAt>, keys: Keys, sums: Sums): void {
  const key = Object.values(keys).join(SEPARATOR)
  const found = into.get(key)
  if (found) for (const [index, value] of sums.entries()) add(found.sums, index, value)
  else into.set(key, { keys, sums: [...sums] })
}

function sumRows(of: ReadonlyMap<string, SumsAt>): SumRow[] {
  return [...of.values()].map(({ keys, sums }) => ({
    ...keys,
    ...Object.fromEntries(SUM_NAMES.map((name, index) => [name, printed(sums[index] as Sum)])),
  }))
}

/** An integer that a number cannot hold exactly is a bigint. */
type Sum = number | bigint
type Sums = Sum[]

function add(sums: Sums, index: number, value: Sum): void {
  const before = sums[index] as Sum
  sums[index] = IS_FRACTION[index] ? (before as number) + (value as number) : sum(before, value)
}

function sum(one: Sum, other: Sum): Sum {
  const both = typeof one === 'number' && typeof other === 'number' ? one + other : undefined
  return Number.isSafeInteger(both) ? (both as number) : BigInt(one) + BigInt(other)
}

/** JSON has no bigint, and Postgres reads one from text. */
function printed(value: Sum): number | string {
  return typeof value === 'bigint' ? String(value) : value
}

// How much of a time in ISO 8601, in UTC, names its hour and its day.
const HOUR = '2026-01-01T00'.length
const DAY = '2026-01-01'.length

function bucketsOf(at: string) {
  return [
    { grain: 'hour', bucket: `${at.slice(0, HOUR)}:00Z` },
    { grain: 'day', bucket: `${at.slice(0, DAY)}T00:00Z` },
  ]
}
