import { joinBytes } from './bytes.ts'

/** One part of a form, by where its value stands in the body. */
export interface Part {
  readonly name: string
  /** undefined for a plain field. */
  readonly filename: string | undefined
  readonly contentType: string
  readonly start: number
  readonly end: number
}

/** The body is not the form that its media type promises. */
export class MalformedForm extends Error {
  override readonly name = 'MalformedForm'
}

const latin1 = new TextDecoder('latin1')
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/** More than any client of these endpoints sends; without a limit a body could be made of a million parts. */
const MOST_PARTS = 1000
const LONGEST_HEAD_BYTES = 16_384

/** The parts of a multipart/form-data body, in order, without copying any. */
export function partsOf(bytes: Uint8Array, contentType: string): Part[] {
  const boundary = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(contentType)
  const name = boundary?.[1] ?? boundary?.[2]
  if (!/^multipart\/form-data\b/i.test(contentType) || !name) throw new MalformedForm('not a form with a boundary')
  // One character a byte: offsets in the text are byte offsets.
  const text = latin1.decode(bytes)
  const delimiter = `--${name}`
  const parts: Part[] = []
  let at = text.startsWith(delimiter) ? 0 : text.indexOf(`\r\n${delimiter}`) + 2
  if (at === 1) throw new MalformedForm('the boundary does not occur')
  for (;;) {
    const head = at + delimiter.length
    if (text.startsWith('--', head)) return parts
    const lineEnd = text.indexOf('\r\n', head)
    const blank = text.startsWith('\r\n\r\n', lineEnd) ? lineEnd : text.indexOf('\r\n\r\n', head)
    if (lineEnd === -1 || blank === -1) throw new MalformedForm('a part has no end to its headers')
    if (blank - lineEnd > LONGEST_HEAD_BYTES) throw new MalformedForm('the headers of a part are too long')
    if (parts.length === MOST_PARTS) throw new MalformedForm(`it has more than ${MOST_PARTS} parts`)
    const start = blank + 4
    const end = text.indexOf(`\r\n${delimiter}`, start - 2)
    if (end === -1) throw new MalformedForm('the last boundary is missing')
    parts.push({ ...headersOf(utf8.decode(bytes.subarray(lineEnd, blank))), start, end: Math.max(start, end) })
    at = end + 2
  }
}

/** One parameter after another, so that what looks like one inside a quoted value is not taken for it. A quote may be
 *  escaped by a backslash; any other backslash is itself. */
const PARAMETER = /;\s*([\w*-]+)=(?:"((?:\\"|[^"])*)"(?=\s*(?:;|$))|([^;\s]*))/g

function headersOf(head: string): Pick<Part, 'name' | 'filename' | 'contentType'> {
  const lines = head.split('\r\n')
  const header = (name: string) => {
    const line = lines.find((line) => line.toLowerCase().startsWith(`${name}:`))
    return line?.slice(name.length + 1).trim()
  }
  const parameters = new Map<string, string>()
  for (const [, key = '', quoted, bare = ''] of (header('content-disposition') ?? '').matchAll(PARAMETER)) {
    const name = key.toLowerCase()
    if (!parameters.has(name)) parameters.set(name, quoted === undefined ? bare : unquoted(quoted))
  }
  const name = parameters.get('name')
  if (name === undefined) throw new MalformedForm('a part has no name')
  const extended = parameters.get('filename*')
  const filename = parameters.get('filename') ?? (extended === undefined ? undefined : extendedValue(extended))
  return { name, filename, contentType: header('content-type') || 'application/octet-stream' }
}

/** Browsers escape three characters by percent signs, older clients the quote by a backslash. */
function unquoted(text: string): string {
  return text.replaceAll('\\"', '"').replaceAll('%22', '"').replace(/%0d/gi, '\r').replace(/%0a/gi, '\n')
}

/** `UTF-8''gr%C3%BC%C3%9Fe.wav` */
function extendedValue(text: string): string {
  const value = text.slice(text.lastIndexOf("'") + 1)
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

export function textOfPart(bytes: Uint8Array, part: Part): string {
  return utf8.decode(bytes.subarray(part.start, part.end))
}

/** The same form with the value of some plain fields changed, every other byte as it was. */
export function editForm(
  bytes: Uint8Array,
  parts: readonly Part[],
  changes: Readonly<Record<string, string>>,
): Uint8Array {
  const pieces: Uint8Array[] = []
  let from = 0
  for (const part of parts) {
    const plain = part.filename === undefined && Object.hasOwn(changes, part.name)
    const value = plain ? changes[part.name] : undefined
    if (value === undefined) continue
    pieces.push(bytes.subarray(from, part.start), encoder.encode(value))
    from = part.end
  }
  pieces.push(bytes.subarray(from))
  return joinBytes(pieces)
}

/** A new form, for an upstream that names its fields otherwise. */
export function writeForm(
  fields: readonly (readonly [
    name: string,
    value: string | { filename: string; contentType: string; bytes: Uint8Array },
  ])[],
): { readonly body: Uint8Array; readonly contentType: string } {
  const boundary = `gateway-${crypto.randomUUID()}`
  const pieces: Uint8Array[] = []
  for (const [name, value] of fields) {
    const quoted = (text: string) => text.replace(/[\r\n"]/g, encodeURIComponent)
    const file =
      typeof value === 'string'
        ? ''
        : `; filename="${quoted(value.filename)}"\r\nContent-Type: ${value.contentType.replace(/[\r\n]/g, '')}`
    pieces.push(
      encoder.encode(`--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}\r\n\r\n`),
      typeof value === 'string' ? encoder.encode(value) : value.bytes,
      encoder.encode('\r\n'),
    )
  }
  pieces.push(encoder.encode(`--${boundary}--\r\n`))
  return { body: joinBytes(pieces), contentType: `multipart/form-data; boundary=${boundary}` }
}
