import { joinPieces, type Pieces, piecesOf } from '../bytes/pieces.ts'
import type { ArrivingForm } from './arriving-form.ts'
import { boundaryOf } from './multipart.ts'

const encoder = new TextEncoder()
const LINE_END_BYTES = 2

export type FormFields = readonly (readonly [name: string, value: string])[]

/** A form with the values of some plain fields changed, some left out (null), and fields added at the end; all other bytes
 *  are unchanged. `added` is called when the whole form has arrived. */
export function editedForm(
  form: ArrivingForm,
  changes: Readonly<Record<string, string | null>>,
  added?: () => FormFields,
): Pieces {
  const reader = form.reader()
  const list: (Pieces | (() => Promise<Pieces>))[] = []
  let from = 0
  let grown = 0
  let before = 0
  for (const { name, filename, start, end } of form.parts) {
    const value = filename === undefined && Object.hasOwn(changes, name) ? changes[name] : undefined
    const left = before
    before = end ?? before
    if (value === undefined || end === undefined) continue
    if (value === null) {
      // The line end behind it begins the next boundary, but a form begins without one.
      const next = list.length === 0 && from >= left ? end + LINE_END_BYTES : end
      if (from < left) list.push(reader.from(from, fixed(left)))
      grown -= next - Math.max(from, left)
      from = next
      continue
    }
    const bytes = encoder.encode(value)
    list.push(reader.from(from, fixed(start)), piecesOf(bytes))
    grown += bytes.byteLength - (end - start)
    from = end
  }
  if (!added) {
    return joinPieces([...list, reader.from(from)], form.length === undefined ? undefined : form.length + grown)
  }
  const closing = () => form.closing
  const boundary = boundaryOf(form.contentType)
  const more = () =>
    encoder.encode(
      added()
        .map((field) => `\r\n--${boundary}\r\n${written(field)}`)
        .join(''),
    )
  const known = form.closing !== undefined && form.length !== undefined
  return joinPieces(
    [...list, reader.from(from, closing), async () => piecesOf(more()), async () => reader.from(form.closing ?? 0)],
    known ? (form.length ?? 0) + grown + more().byteLength : undefined,
  )
}

/** A new form of fields and one file. `late` fields follow the file, and are known only when it has been read. */
export function newForm(
  fields: FormFields,
  file: { readonly name: string; readonly filename: string; readonly contentType: string; readonly content: Pieces },
  late: () => Promise<FormFields> = async () => [],
): { readonly body: Pieces; readonly contentType: string } {
  const boundary = `gateway-${crypto.randomUUID()}`
  const line = `--${boundary}\r\n`
  const type = file.contentType.replace(/[\r\n]/g, '')
  const head =
    fields.map((field) => `${line}${written(field)}\r\n`).join('') +
    `${line}${disposition(file.name)}; filename="${quoted(file.filename)}"\r\nContent-Type: ${type}\r\n\r\n`
  const tail = async () => {
    const rest = (await late()).map((field) => `\r\n${line}${written(field)}`).join('')
    return piecesOf(encoder.encode(`${rest}\r\n--${boundary}--\r\n`))
  }
  return {
    body: joinPieces([piecesOf(encoder.encode(head)), file.content, tail]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  }
}

const quoted = (text: string) => text.replace(/[\r\n"]/g, encodeURIComponent)
const disposition = (name: string) => `Content-Disposition: form-data; name="${quoted(name)}"`
const written = ([name, value]: FormFields[number]) => `${disposition(name)}\r\n\r\n${value}`
const fixed = (position: number) => () => position
