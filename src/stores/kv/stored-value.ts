import type { Key } from './keys.ts'

export interface StoredValue {
  readonly key: Key
  readonly text: string
  readonly ttlSeconds: number
  /** Bounds what is stored under one meter: a value that would pass `most` characters is left out. The meter begins again
   *  when `ttlSeconds` have passed since its first value. */
  readonly meter?: { readonly key: Key; readonly most: number } | undefined
}
