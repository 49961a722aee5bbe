import type * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import type { Reach } from '../../../identity/grants.ts'
import type { Permission } from '../../../identity/permissions.ts'
import { GatewayError } from '../../../lib/errors.ts'
import type { Level } from '../../../limits/limited-scope.ts'
import { brokenForeignKey } from '../../../stores/sql/records/foreign-key.ts'
import type { ScopeRecords, ValuesOf } from '../../../stores/sql/records/scope-records.ts'
import type { RecordOrder } from '../../../stores/sql/scopes/record-order.ts'
import type { ApiServices } from '../../scope.ts'
import type { Fields } from './record-fields.ts'

/** The columns of a record, of which every one here has a version. */
export type ScopeRow = Fields & { readonly version: string }

/** Fields of a body: each is a column of the record. */
type FieldsOf<Row> = { readonly [Column in keyof Row]?: z.ZodType }

/** A kind of record that callers are built from, as the admin API serves it. */
export interface RecordKind<Row extends ScopeRow> {
  readonly path: string
  readonly noun: string
  /** The field that names a record. */
  readonly id: keyof Row & string
  readonly level: Level
  readonly permissions: Readonly<Record<'read' | 'create' | 'update' | 'remove', Permission>>
  readonly records: (services: ApiServices) => ScopeRecords<Row>
  /** Fields of a body that may change at any time. */
  readonly fields: () => FieldsOf<Row>
  /** Fields that are fixed at creation. A change may repeat them, but not alter them. */
  readonly settled: () => FieldsOf<Row>
  /** Refuses references to what lies beyond the caller's reach. */
  readonly mayRefer?: (services: ApiServices, reach: Reach, values: ValuesOf<Row>) => Promise<void>
  /** Set if records can have an owner: a person who may read and remove them, and change these fields. */
  readonly ownersFields?: readonly (keyof Row & string)[]
  /** Columns by which lists can be filtered. */
  readonly filters: readonly (keyof Row & string)[]
  /** Further filters of lists, which are no columns. */
  readonly asked?: () => Readonly<Record<string, z.ZodType>>
  /** The orders of lists, in addition to that by id. */
  readonly orders?: readonly Exclude<RecordOrder, 'id'>[]
  readonly answer: () => z.ZodObject
  /** Reads what answers show in addition to the columns, in the order of the rows. */
  readonly facts?: (services: ApiServices, rows: readonly Row[]) => Promise<readonly object[]>
  /** Computes fields from all others. */
  readonly derived?: (record: Fields, now: number) => Fields
}

/** Fields of a body as columns: the types of a kind guarantee that their names agree. */
export function columnsOf<Row extends ScopeRow>(_kind: RecordKind<Row>, given: Fields): ValuesOf<Row> {
  return given as ValuesOf<Row>
}

export function absent({ noun, id }: { readonly noun: string; readonly id: string }): GatewayError {
  return new GatewayError('not_found', `There is no such ${noun}.`, { param: id })
}

const NOUNS: Readonly<Record<string, string>> = {
  team_id: 'team',
  organization_id: 'organization',
  user_id: 'user',
}

export function unknownReference(column: string): GatewayError {
  return mistake(column, `there is no such ${NOUNS[column] ?? 'record'}`)
}

/** Awaits a write. A reference to an absent record becomes a 400 that names the field. */
export async function referring<Row>(write: Promise<Row>): Promise<Row> {
  try {
    return await write
  } catch (error) {
    const broken = brokenForeignKey(error)
    throw broken ? unknownReference(broken.column) : error
  }
}

/** Awaits a removal. A record that others still reference becomes a 409. */
export async function unneeded<Row>(noun: string, removal: Promise<Row>): Promise<Row> {
  try {
    return await removal
  } catch (error) {
    const broken = brokenForeignKey(error)
    if (!broken) throw error
    const what = broken.table.replace('gateway_', '')
    const message = `This ${noun} still has ${what}s. Remove those first.`
    throw new GatewayError('conflict', message, { code: `has_${what}s` })
  }
}
