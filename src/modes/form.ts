import type { Pieces } from '../lib/bytes/pieces.ts'
import type { ArrivingForm } from '../lib/forms/arriving-form.ts'
import type { ModelRequest } from './mode.ts'

/** A file of a form, whether it has come or is still coming. */
export interface FormFile {
  readonly filename: string
  readonly contentType: string
  /** Its bytes, from the first one. */
  open(): Pieces
}

/** A form as an adapter gets it. Of a field that stands behind the file nothing may be known yet. */
export interface RequestForm<Request extends ModelRequest = ModelRequest> {
  readonly raw: ArrivingForm
  /** Plain fields that the provider must not read. */
  readonly withheld?: readonly string[]
  /** The request with all its fields, as soon as the form has ended. Rejects when it is no valid one. */
  whole(): Promise<Request>
}

export function isFormFile(value: unknown): value is FormFile {
  return typeof value === 'object' && value !== null && 'open' in value && typeof value.open === 'function'
}

/** What has come of a form, as an object: fields as text, files as files, names that end in `[]` or repeat as lists. */
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
