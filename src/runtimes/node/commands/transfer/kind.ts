import type * as z from 'zod'
import type { Fields } from '../../../../api/ui/records/record-fields.ts'
import type { AdminApi } from '../admin-api.ts'
import { isSame, ordered, type Sections } from './document.ts'

/** What is wrong with a record: the field, and a sentence that the field begins. */
export interface Mistake {
  readonly path: string
  readonly message: string
}

/** Records as they are or as a file wants them, by section and then by name. */
export type Named = ReadonlyMap<string, ReadonlyMap<string, Fields>>

export interface World {
  /** The records of the installation, as a file would have them. */
  readonly now: Named
  /** The records of the file. */
  readonly wanted: Named
  /** Names that only the configuration file of the gateway has. */
  readonly ofFile: { readonly models: ReadonlySet<string>; readonly servers: ReadonlySet<string> }
}

interface Part {
  readonly schema: z.ZodType
  readonly value: unknown
  /** Where the value is in the record; '': it is the record. */
  readonly at: string
}

/** A kind of record that files hold. */
export interface Kind {
  /** The section of the file, and the noun for one record. */
  readonly section: string
  readonly noun: string
  /** The fields that name a record. */
  readonly id: readonly string[]
  /** All other fields in the order of the file, each with its value where the file has none. */
  readonly fields: Fields
  /** Settled when a record is made. */
  readonly settled?: readonly string[]
  /** The records of the installation. `people`: the users who are persons with an account. */
  read(api: AdminApi, people: ReadonlySet<string>): Promise<Fields[]>
  /** The values that must satisfy schemas of the admin API. */
  parts(record: Fields): readonly Part[]
  /** The gateway stores the record as the first part's schema parses it, not as it was sent. */
  readonly storesParsed?: true
  /** The record as it is compared and written, where that is not what the file says. */
  readonly normal?: (record: Fields, before?: Fields) => Fields
  /** Fields in which there are secrets, and the address that a record's are kept for. */
  readonly secrets?: { readonly fields: readonly string[]; readonly addressOf: (record: Fields) => string }
  /** What is wrong with a record beyond its schema. */
  readonly check?: (record: Fields, world: World, before: Fields | undefined) => Mistake | undefined
  create(api: AdminApi, record: Fields): Promise<void>
  change(api: AdminApi, record: Fields, before: Fields): Promise<void>
  remove(api: AdminApi, record: Fields): Promise<void>
}

export function nameOf({ id }: Pick<Kind, 'id'>, record: Fields): string {
  return id.map((field) => String(record[field])).join('/')
}

/** A record as files hold it: its own fields, in their order, without those that say nothing. */
export function inFile({ id, fields }: Pick<Kind, 'id' | 'fields'>, record: Fields): Fields {
  const told = Object.entries(fields).filter(([name, otherwise]) => {
    const value = record[name]
    return value !== undefined && !isSame(value, otherwise)
  })
  return Object.fromEntries([...id, ...told.map(([name]) => name)].map((name) => [name, ordered(record[name])]))
}

/** A record with all its fields. */
export function whole({ id, fields }: Pick<Kind, 'id' | 'fields'>, record: Fields): Fields {
  const named = Object.fromEntries(id.map((name) => [name, record[name]]))
  return {
    ...named,
    ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, record[name] ?? value])),
  }
}

export function byName(kinds: readonly Kind[], sections: Sections): Named {
  return new Map(
    kinds.map((kind) => [
      kind.section,
      new Map((sections[kind.section] ?? []).map((record) => [nameOf(kind, record), record])),
    ]),
  )
}
