import type { ColumnType, InsertType, SelectType, UpdateType } from 'kysely'

/** int8 and numeric are read as text and written as either. */
export type Int8 = ColumnType<string, string | number, string | number>
export type Numeric = ColumnType<string, string | number, string | number>
export type Int4 = number
export type Float8 = number
/** ISO 8601 in UTC. */
export type Timestamp = string
/** Read as a parsed value. A list is written as JSON text, since an array would become an array of SQL. */
export type Json<Value> = ColumnType<Value, JsonInput<Value>, JsonInput<Value>>
type JsonInput<Value> = string | (Value extends readonly unknown[] ? never : Value)
/** A column with a default. */
export type Defaulted<Type> = ColumnType<SelectType<Type>, InsertType<Type> | undefined, UpdateType<Type>>
/** A column that only the database writes. */
export type Given<Type> = ColumnType<SelectType<Type>, never, never>
