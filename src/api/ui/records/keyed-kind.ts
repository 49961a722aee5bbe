import * as z from 'zod'
import type { Permission } from '../../../identity/permissions.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { ContentColumn, KeyedTableName, RowOf, TextColumn } from '../../../stores/sql/records/keyed-records.ts'
import type { SecretPlaces } from '../../../stores/sql/records/sealed-settings.ts'
import type { RouteContract } from '../../route.ts'
import type { ApiServices } from '../../scope.ts'
import { expectedVersion } from '../registry-records.ts'
import type { Fields } from './record-fields.ts'

/** A kind of record that is settings: named, versioned, and replaced as a whole. Its fields are the columns of its
 *  table. */
export interface KeyedKind<Name extends KeyedTableName, Id extends TextColumn<RowOf<Name>>> {
  readonly path: string
  readonly noun: string
  readonly tag: RouteContract['tag']
  readonly table: Name
  /** The field that names a record. */
  readonly id: Id
  /** The prefix of generated ids. Without it clients choose the id. */
  readonly prefix?: string
  readonly permissions: Readonly<Record<'read' | 'create' | 'update' | 'remove', Permission>>
  /** The schema of an id. */
  readonly named: () => z.ZodType
  /** The other fields of a body, one for every column. */
  readonly fields: () => { readonly [Column in Exclude<ContentColumn<Name>, Id | 'sealed'>]: z.ZodType }
  /** Columns of text in which a search looks. */
  readonly searched: readonly TextColumn<RowOf<Name>>[]
  /** Columns of text by which lists can be filtered. */
  readonly filters?: readonly TextColumn<RowOf<Name>>[]
  /** The fields that hold secrets, which are kept in the column `sealed`. */
  readonly secrets: 'sealed' extends keyof RowOf<Name> ? Omit<SecretPlaces, 'table'> : undefined
  /** Refuses content that the schemas of the fields cannot. */
  readonly check?: (services: ApiServices, id: string, content: Fields) => void | Promise<void>
  readonly summaries?: Partial<Readonly<Record<'list' | 'create' | 'remove', string>>>
}

/** A kind without the types of its table: the routes are the same for all kinds. */
export type AnyKind = Omit<KeyedKind<KeyedTableName, never>, 'id' | 'fields' | 'searched' | 'filters' | 'secrets'> & {
  readonly id: string
  readonly fields: () => Readonly<Record<string, z.ZodType>>
  readonly searched: readonly string[]
  readonly filters?: readonly string[]
  readonly secrets: Omit<SecretPlaces, 'table'> | undefined
}

/** The bodies and answers of a kind. */
export function schemasOf(kind: AnyKind) {
  const id = () => ({ [kind.id]: kind.named() })
  const sameId = () => ({ [kind.id]: kind.named().optional() })
  return {
    whole: lazily(() => z.strictObject({ ...id(), ...kind.fields() })),
    create: lazily(() => z.strictObject({ ...(kind.prefix === undefined ? id() : sameId()), ...kind.fields() })),
    put: lazily(() => z.strictObject({ ...sameId(), ...kind.fields(), version: expectedVersion() })),
    patch: lazily(() => {
      const fields = Object.entries(kind.fields()).map(([name, field]) => [name, patchField(field)])
      return z.strictObject({
        [kind.id]: z.string().optional(),
        ...Object.fromEntries(fields),
        version: expectedVersion(),
      })
    }),
    answer: lazily(() =>
      z.object({
        ...id(),
        ...kind.fields(),
        version: z.int().describe('Increases with every change.'),
        created_at: z.iso.datetime(),
        updated_at: z.iso.datetime(),
      }),
    ),
  }
}

/** A field of a patch: left out it stays, null is its default, and an object is merged before it is checked. */
function patchField(field: z.ZodType): z.ZodType {
  if (!(field instanceof z.ZodDefault)) return merged(field).optional()
  return merged(field.unwrap() as z.ZodType)
    .nullable()
    .optional()
}

function merged(field: z.ZodType): z.ZodType {
  return field instanceof z.ZodObject ? z.record(z.string(), z.unknown()) : field
}
