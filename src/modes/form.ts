import * as z from 'zod'
import type { Pieces } from '../lib/bytes/pieces.ts'
import type { ArrivingForm } from '../lib/forms/arriving-form.ts'
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

/** The parts of a form that have arrived, as an object: fields as text, files as files, names that end in `[]` or
 *  repeat as lists. */
export function readForm(form: ArrivingForm): Record<string, unknown> {
  const read: Record<string, unknown> = Object.create(null)
  for (const [index, { name: written, filename, contentType, start, end, text }] of form.parts.entries()) {
    if (filename === undefined && end === undefined) continue
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

export const formFile = () =>
  z.custom<FormFile>(isFormFile, 'must be an uploaded file').meta({ type: 'string', format: 'binary' })

/** A field that says yes or no: forms write it as text. */
export const flag = () => z.union([z.boolean(), z.stringbool()])
