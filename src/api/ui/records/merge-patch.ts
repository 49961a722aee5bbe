import { isMap } from '../../../config/fields.ts'

/** Applies a JSON merge patch (RFC 7396): omitted members stay, null removes. */
export function mergePatch(value: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch
  const members = new Map(Object.entries(isMap(value) ? value : {}))
  for (const [key, member] of Object.entries(patch)) {
    if (member === null) members.delete(key)
    else members.set(key, mergePatch(members.get(key), member))
  }
  return Object.fromEntries(members)
}
