import * as z from 'zod'
import type { Pieces } from '../lib/bytes/pieces.ts'
import type { ArrivingForm } from '../lib/forms/arriving-form.ts'
import { boundJson, REQUEST_BOUNDS } from '../lib/json/json-bounds.ts'
import { parseRecord } from '../lib/json/lenient.ts'
import type { ModelRequest } from './mode.ts'

/** A file of a form, which may still be arriving. */
export interface FormFile {
  readonly filename: string
  readonly contentType: string
  /** Its bytes, from the first one. */
  open(): Pieces
}

/** A form as an adapter gets it. Fields behind the file may not have arrived yet. */
export interface RequestForm<Request extends ModelRequest = ModelRequest> {
  readonly raw: ArrivingForm
  /** Its model stands in the address: the form itself may name none. */
  readonly addressed?: boolean | undefined
  /** The request has other fields than the form: it cannot be relayed as it is. */
  readonly rewritten?: boolean
  /** Fields that must not be sent to the provider. */
  readonly withheld?: readonly string[]
  /** Resolves with all fields once the form has ended. Rejects if the request is invalid. */
  whole(): Promise<Request>
}

export function isFormFile(value: unknown): value is FormFile {
  return typeof value === 'object' && value !== null && 'open' in value && typeof value.open === 'function'
}

/** Whether a field of a form is `metadata` or, as clients write objects into forms, one of its members. */
export const isInMetadata = (name: string) => name === 'metadata' || name.startsWith('metadata[')

/** The parts of a form that have arrived, as an object: fields as text, files as files, names that end in `[]` or
 *  repeat as lists, and `metadata` as an object. */
export function readForm(form: ArrivingForm): Record<string, unknown> {
  const read: Record<string, unknown> = Object.create(null)
  const metadata = metadataOf(form)
  if (metadata !== undefined) read.metadata = metadata
  for (const [index, { name: written, filename, contentType, start, end, text }] of form.parts.entries()) {
    if (filename === undefined && (end === undefined || isInMetadata(written))) continue
    const open = () => form.reader().from(start, () => form.parts[index]?.end)
    const value = filename === undefined ? text : { filename, contentType, open }
    const name = written.replace(/\[\]$/, '')
    const before = read[name]
    if (Array.isArray(before)) before.push(value)
    else if (before !== undefined) read[name] = [before, value]
    else read[name] = written.endsWith('[]') ? [value] : value
  }
  return { ...read }
}

const encoder = new TextEncoder()
const MEMBER = /^metadata\[([^[\]]+)\](\[\d*\])?$/

/** The metadata of a form: JSON in one field, or a field for each member (`metadata[tags][]`). Text that is no JSON object
 *  stays text, which is refused. */
function metadataOf({ parts }: ArrivingForm): Record<string, unknown> | string | undefined {
  let read: Record<string, unknown> | undefined
  for (const { name, text } of parts) {
    if (text === undefined || !isInMetadata(name)) continue
    read ??= Object.create(null) as Record<string, unknown>
    if (name === 'metadata') {
      boundJson(encoder.encode(text), REQUEST_BOUNDS)
      const whole = parseRecord(text)
      if (!whole) return text
      Object.assign(read, whole)
      continue
    }
    const [, member, inList] = MEMBER.exec(name) ?? []
    if (member === undefined) continue
    const before = read[member]
    if (inList === undefined && member !== 'tags') read[member] = text
    else if (Array.isArray(before)) before.push(text)
    else read[member] = [text]
  }
  return read && { ...read }
}

export const formFile = () =>
  z.custom<FormFile>(isFormFile, 'must be an uploaded file').meta({ type: 'string', format: 'binary' })

/** A field that says yes or no: forms write it as text. */
export const flag = () => z.union([z.boolean(), z.stringbool()])
