import type { ChargedRow, SpendRow } from './spend-rows.ts'
import { SPEND_FRACTIONS, SPEND_SUMS } from './spend-sums.ts'

/** Calls that differ in nothing but what was measured of each, in one hour. */
export interface Shape {
  /** Its place among the shapes. */
  readonly shape: number
  /** Any of them. */
  readonly example: SpendRow
  /** As far as its calls' times are the same. */
  readonly hour: string
  /** In the order of `SPEND_SUMS`. */
  readonly sums: Sum[]
}

/** What an account pays in one of its periods. */
export interface Charged {
  readonly subject: string
  readonly period: string
  nano: Sum
}

/** An integer that a number cannot hold exactly is a bigint. */
export type Sum = number | bigint

export interface Fold {
  readonly shapes: readonly Shape[]
  /** Of every row, the place of its shape. */
  readonly shapeOf: readonly number[]
  readonly charges: readonly Charged[]
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

type Added = (row: SpendRow) => number
const ADDED: readonly Added[] = Object.values(SPEND_SUMS)
const IS_FRACTION = Object.keys(SPEND_SUMS).map((name) => SPEND_FRACTIONS.has(name))

/** Adds a batch up as far as its calls are alike: for the database are left the few sums of shapes. */
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
  return { shapes, shapeOf, charges }
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

function add(sums: Sum[], index: number, value: Sum): void {
  const before = sums[index] as Sum
  sums[index] = IS_FRACTION[index] ? (before as number) + (value as number) : sum(before, value)
}

function sum(one: Sum, other: Sum): Sum {
  const both = typeof one === 'number' && typeof other === 'number' ? one + other : undefined
  return Number.isSafeInteger(both) ? (both as number) : BigInt(one) + BigInt(other)
}

// How much of a time in ISO 8601, in UTC, names its hour.
const HOUR = '2026-01-01T00'.length
