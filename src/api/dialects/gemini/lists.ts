import { outline } from '../../../lib/json/lazy-json.ts'
import { asRecord, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'

/** Members that are lists of objects, and the lists within each of these. */
interface Lists {
  readonly [member: string]: Lists
}

const PARTS: Lists = { parts: {} }
const LISTS: Lists = {
  contents: PARTS,
  tools: { functionDeclarations: {}, function_declarations: {} },
  safetySettings: {},
  safety_settings: {},
}
const INSTRUCTIONS = ['systemInstruction', 'system_instruction'] as const

/** The members of a request in which one object stands for a list of it, as lists. Google's API reads both, and examples
 *  of its own write the object. Of long lists the first item tells how all are written. */
export function asLists(body: JsonRecord): JsonRecord {
  const shape = asRecord(outline(body))
  const changes: Record<string, unknown> = {}
  for (const [member, inner] of Object.entries(LISTS)) {
    if (lacksList(shape[member], inner)) changes[member] = listed(body[member], inner)
  }
  for (const member of INSTRUCTIONS) {
    if (isRecord(asRecord(shape[member]).parts)) changes[member] = within(asRecord(body[member]), PARTS)
  }
  return changes
}

function lacksList(value: unknown, inner: Lists): boolean {
  if (!Array.isArray(value)) return isRecord(value)
  return value.some((item) => Object.entries(inner).some(([member, lists]) => lacksList(asRecord(item)[member], lists)))
}

function listed(value: unknown, inner: Lists): unknown {
  if (isRecord(value)) return [within(value, inner)]
  return Array.isArray(value) ? value.map((item) => (isRecord(item) ? within(item, inner) : item)) : value
}

function within(item: JsonRecord, inner: Lists): JsonRecord {
  const members = Object.entries(inner).filter(([member]) => item[member] !== undefined)
  return { ...item, ...Object.fromEntries(members.map(([member, lists]) => [member, listed(item[member], lists)])) }
}
