import { isMap } from '../../../config/fields.ts'

/** A JSON merge patch (RFC 7396): what is left out stays, null takes away. */
export function mergePatch(value: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch
  const members = new Map(Object.entries(isMap(value) ? value : {}))
  for (const [key, member] of Object.entries(patch)) {
    if (member === null) members.delete(key)
    else members.set(key, mergePatch(members.get(key), member))
  }
  return Object.fromEntries(members)
}
