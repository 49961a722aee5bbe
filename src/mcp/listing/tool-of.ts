import { asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { mirroredArguments } from '../mirrored.ts'
import { hasHidden, plainText } from '../plain-text.ts'
import type { Tool } from '../tool-servers.ts'
import { annotationsOf, iconsOf, isExecution, objectSchema } from './well-formed.ts'

const LONGEST_NAME = 128
const LONGEST_TITLE = 200
const LONGEST_DESCRIPTION = 8000
const MOST_SCHEMA_BYTES = 64 * 1024
const MOST_NOTE_BYTES = 4 * 1024
/** Providers refuse schemas of more levels. */
const MOST_LEVELS = 32

/** A tool that has no public name yet. */
export type ListedTool = Omit<Tool, 'publicName'>

/** A tool of a server's list, or why nobody can call it. */
export function toolOf(server: string, listed: unknown): ListedTool | { readonly unfit: string } {
  if (!isRecord(listed) || typeof listed.name !== 'string') return { unfit: 'it has no name' }
  const { name, inputSchema, outputSchema, annotations, icons, execution, _meta } = listed
  if (name === '' || name.length > LONGEST_NAME) return { unfit: `its name has not 1 to ${LONGEST_NAME} characters` }
  if (hasHidden(name)) return { unfit: 'its name has control characters' }
  if (isRecord(execution) && execution.taskSupport === 'required') return { unfit: 'it runs as a task only' }
  const schema = isRecord(inputSchema)
    ? objectSchema({ ...inputSchema, type: inputSchema.type ?? 'object' })
    : undefined
  if (!isRecord(inputSchema) || !schema) return { unfit: 'its input schema is not that of an object' }
  if (!isWithin(inputSchema, MOST_SCHEMA_BYTES)) return { unfit: 'its input schema is too large or too deep' }
  if (!mirroredArguments(inputSchema)) return { unfit: 'its input schema has x-mcp-header where that is not valid' }
  const output = isRecord(outputSchema) ? (objectSchema(outputSchema) ?? outputSchema) : undefined
  const title = plainText(asText(listed.title), LONGEST_TITLE)
  return {
    server,
    name,
    description: plainText(asText(listed.description), LONGEST_DESCRIPTION),
    inputSchema: rounded(schema),
    ...(title === '' ? {} : { title }),
    ...(output && isWithin(output, MOST_SCHEMA_BYTES) ? { outputSchema: rounded(output) } : {}),
    ...(isNote(annotations) ? { annotations: annotationsOf(rounded(annotations)) } : {}),
    ...(Array.isArray(icons) && isWithin(icons, MOST_NOTE_BYTES) ? { icons: iconsOf(icons) } : {}),
    ...(isNote(execution) && isExecution(execution) ? { execution } : {}),
    ...(isNote(_meta) ? { _meta } : {}),
  }
}

const isNote = (value: unknown): value is JsonRecord => isRecord(value) && isWithin(value, MOST_NOTE_BYTES)

/** Numbers as everybody reads them: schemas are looked into, and written anew for some providers. */
const rounded = (value: JsonRecord): JsonRecord => JSON.parse(JSON.stringify(value))

function isWithin(value: object, mostBytes: number): boolean {
  return hasLevels(value, MOST_LEVELS) && JSON.stringify(value).length <= mostBytes
}

function hasLevels(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return most > 0 && Object.values(value).every((member) => hasLevels(member, most - 1))
}
