import { base64Bytes, base64Text } from '../lib/bytes/base64.ts'
import { HEADER_NAME } from '../lib/bytes/header-text.ts'
import { isRecord, type JsonRecord } from '../lib/json/lenient.ts'

/** What headers of MCP repeat of a message, so that those on its way can read it there. */

/** An argument of a tool that a header repeats. */
export interface MirroredArgument {
  /** In lower case. */
  readonly header: string
  /** The names that lead to it from the arguments. */
  readonly path: readonly string[]
}

/** The member of a property's schema that names the header of its value. */
const NAME = 'x-mcp-header'
const PREFIX = 'mcp-param-'
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])
/** Members of a schema that hold schemas by names of their own. */
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
])
/** Members of a schema that hold values. */
const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples'])

/** The arguments of a tool that headers repeat; undefined if its schema asks for that in a way that MCP forbids. */
export function mirroredArguments(inputSchema: JsonRecord): readonly MirroredArgument[] | undefined {
  const found = new Map<string, MirroredArgument>()
  /** `path`: undefined where not only names lead. */
  const isValid = (schema: unknown, path: readonly string[] | undefined): boolean => {
    if (Array.isArray(schema)) return schema.every((one) => isValid(one, undefined))
    if (!isRecord(schema)) return true
    if (Object.hasOwn(schema, NAME)) {
      const name = schema[NAME]
      if (!path?.length || typeof name !== 'string' || !HEADER_NAME.test(name) || !TYPES.has(schema.type)) return false
      const header = PREFIX + name.toLowerCase()
      if (found.has(header)) return false
      found.set(header, { header, path })
    }
    return Object.entries(schema).every(([member, value]) => {
      if (VALUES.has(member)) return true
      if (!MAPS.has(member) || !isRecord(value)) return isValid(value, undefined)
      return Object.entries(value).every(([name, one]) =>
        isValid(one, member === 'properties' && path ? [...path, name] : undefined),
      )
    })
  }
  return isValid(inputSchema, []) ? [...found.values()] : undefined
}

/** What the header of an argument says; undefined if it is not sent. */
export function textAt(args: JsonRecord, path: readonly string[]): string | undefined {
  let value: unknown = args
  for (const name of path) value = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
  if (typeof value === 'string') return value
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : undefined
}

const ENCODED = /^=\?base64\?(.*)\?=$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
/** What a header carries to its end as it is. */
const PLAIN = /^(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?$/
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A text as a header carries it: in base64 if it would not arrive as it is. */
export function asHeader(text: string): string {
  if (PLAIN.test(text) && !ENCODED.test(text)) return text
  return `=?base64?${base64Text(encoder.encode(text))}?=`
}

/** The text in such a header; undefined if it cannot be read. */
export function fromHeader(header: string | undefined): string | undefined {
  const encoded = ENCODED.exec(header ?? '')?.[1]
  if (encoded === undefined) return header
  if (!BASE64.test(encoded)) return undefined
  try {
    return decoder.decode(base64Bytes(encoded))
  } catch {
    return undefined
  }
}
