import { type Part, partsOf, textOfPart } from '../lib/multipart.ts'

/** A file of a form, without a copy of its bytes. */
export interface FormFile {
  readonly filename: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

export function isFormFile(value: unknown): value is FormFile {
  return typeof value === 'object' && value !== null && 'bytes' in value && value.bytes instanceof Uint8Array
}

/** A form as an object: fields as text, files as files, names that end in `[]` or repeat as lists. */
export function readForm(bytes: Uint8Array, contentType: string): Record<string, unknown> {
  const form: Record<string, unknown> = Object.create(null)
  for (const part of partsOf(bytes, contentType)) {
    const name = part.name.replace(/\[\]$/, '')
    const value = readPart(bytes, part)
    const before = form[name]
    if (Array.isArray(before)) before.push(value)
    else if (before !== undefined) form[name] = [before, value]
    else form[name] = part.name.endsWith('[]') ? [value] : value
  }
  return { ...form }
}

function readPart(bytes: Uint8Array, part: Part): string | FormFile {
  if (part.filename === undefined) return textOfPart(bytes, part)
  return { filename: part.filename, contentType: part.contentType, bytes: bytes.subarray(part.start, part.end) }
}
