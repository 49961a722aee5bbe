import { isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import { targetOf } from './recursive-schema.ts'

/** The members of a schema that are schemas by their names. */
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs'])

/** A schema as Moonshot takes it: of records alone, without tuples, and with references to its definitions alone. The same
 *  where it is that already. */
export function definedSchema(root: JsonRecord): JsonRecord {
  const made = new Map<string, unknown>()
  let changed = false
  const change = (value: unknown) => {
    changed = true
    return value
  }

  /** A reference to what another points at, which becomes a definition. */
  const defined = (reference: unknown): unknown => {
    if (typeof reference !== 'string' || !reference.startsWith('#/') || reference.startsWith('#/$defs/'))
      return reference
    const target = targetOf(root, reference)
    if (!isRecord(target)) return reference
    const name = reference.replace(/^#\/(definitions\/)?/, '').replaceAll('/', '.')
    // Noted first: what it names may name it again.
    if (!made.has(name)) made.set(name, target).set(name, fitting(target))
    return change(`#/$defs/${name}`)
  }
  const items = (value: unknown): unknown => {
    if (!Array.isArray(value)) return isRecord(value) ? fitting(value) : change(undefined)
    const members = value.map(each)
    return change(members.length > 1 ? { anyOf: members } : members[0])
  }
  const each = (value: unknown): unknown => (isRecord(value) ? fitting(value) : change({}))
  const member = (name: string, value: unknown): unknown => {
    if (NAMED.has(name) && isRecord(value)) {
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, each(one)]))
    }
    if (name === 'anyOf' && Array.isArray(value)) return value.map(each)
    if (name === 'items') return items(value)
    if (name === 'additionalProperties' && isRecord(value)) return fitting(value)
    return name === '$ref' ? defined(value) : value
  }
  const fitting = (schema: JsonRecord): JsonRecord =>
    Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, member(name, value)]))

  const { definitions, ...rest } = fitting(root)
  if (!changed) return root
  return made.size === 0
    ? rest
    : { ...rest, $defs: { ...(isRecord(rest.$defs) ? rest.$defs : {}), ...Object.fromEntries(made) } }
}
