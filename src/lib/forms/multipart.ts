import { joinBytes } from '../bytes/bytes.ts'

/** One part of a form, with the offsets of its value in the body. */
export interface Part {
  readonly name: string
  /** undefined for a plain field. */
  readonly filename: string | undefined
  readonly contentType: string
  readonly start: number
  /** undefined while the value is arriving. */
  readonly end: number | undefined
  /** The value of a complete plain field; undefined for a file. */
  readonly text: string | undefined
}

/** The body is not a form of its media type. */
export class MalformedForm extends Error {
  override readonly name = 'MalformedForm'
}

/** Parses a form while it arrives. */
export interface FormScanner {
  /** Parses the next bytes, cut anywhere. */
  push(bytes: Uint8Array): void
  /** Throws unless the last boundary has arrived. */
  end(): void
  /** The parts in order; the last one may still be arriving. */
  readonly parts: readonly Part[]
  /** The number of bytes that are classified: a boundary cannot begin before this offset. */
  readonly known: number
  /** The offset of the last boundary; undefined until it has arrived. */
  readonly closing: number | undefined
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/** More than any client of these endpoints sends. It bounds the work for one body. */
const MOST_PARTS = 1000
const LONGEST_HEAD_BYTES = 16_384
/** The limit of all plain fields together: they are held in memory. */
const LONGEST_FIELDS_BYTES = 16 * 1024 * 1024

const CR = 13
const LF = 10
const DASH = 45
const SPACE = 32
const TAB = 9
const NOTHING = new Uint8Array()
const CRLF = Uint8Array.of(CR, LF)
const BLANK = Uint8Array.of(CR, LF, CR, LF)

export function formScanner(contentType: string): FormScanner {
  let delimiter = NOTHING
  const parts: Part[] = []
  let state: 'preamble' | 'delimiter' | 'head' | 'value' | 'closed' = 'preamble'
  // A boundary follows a line end. The first one may begin the body, so that a line end is put before it.
  let held: Uint8Array = CRLF
  let offset = -CRLF.byteLength
  let boundaryAt = 0
  let known = 0
  let text: Uint8Array[] = []
  let fieldBytes = 0

  const drop = (count: number) => {
    held = held.subarray(count)
    offset += count
  }
  const isText = () => parts.at(-1)?.filename === undefined

  function keepText(until: number): void {
    if (state !== 'value' || !isText()) return
    const from = Math.max(offset, parts.at(-1)?.start ?? 0)
    if (until <= from) return
    fieldBytes += until - from
    if (fieldBytes > LONGEST_FIELDS_BYTES) {
      throw new MalformedForm(`its fields are longer than ${LONGEST_FIELDS_BYTES} bytes`)
    }
    text.push(held.slice(from - offset, until - offset))
  }

  /** Refuses lines before the first boundary: a parser with LF line ends could find a part in them. */
  function checkPreamble(count: number): void {
    if (state !== 'preamble') return
    const at = held.indexOf(LF, Math.max(0, -offset))
    if (at !== -1 && at < count) throw new MalformedForm('there are lines before its first boundary')
  }

  /** Whether no boundary spans the held bytes and a long piece, so that the two need not be joined to find one. */
  function isSeparate(bytes: Uint8Array): boolean {
    if ((state !== 'value' && state !== 'preamble') || bytes.byteLength < delimiter.byteLength) return false
    return indexOf(joinBytes([held, bytes.subarray(0, delimiter.byteLength - 1)]), delimiter, 0) === -1
  }

  /** Reads up to the next boundary; false if it has not arrived. */
  function value(): boolean {
    const at = indexOf(held, delimiter, 0)
    const until = offset + (at === -1 ? Math.max(0, held.byteLength - delimiter.byteLength + 1) : at)
    keepText(until)
    const open = parts.at(-1)
    if (state === 'value' && open) known = Math.max(open.start, until)
    if (at === -1) {
      checkPreamble(until - offset)
      drop(until - offset)
      return false
    }
    if (state === 'value' && open) {
      const end = Math.max(open.start, until)
      parts[parts.length - 1] = { ...open, end, text: isText() ? utf8.decode(joinBytes(text)) : undefined }
      text = []
    }
    boundaryAt = Math.max(0, until)
    checkPreamble(at)
    drop(at + delimiter.byteLength)
    state = 'delimiter'
    return true
  }

  /** Reads the rest of a boundary's line. */
  function lineEnd(): boolean {
    if (held.byteLength < 2) return false
    if (held[0] === DASH && held[1] === DASH) {
      state = 'closed'
      return false
    }
    let at = 0
    while (held[at] === SPACE || held[at] === TAB) at++
    if (at > LONGEST_HEAD_BYTES) throw new MalformedForm('the headers of a part are too long')
    if (at + 1 >= held.byteLength) return false
    // Longer text that begins like the boundary: other parsers may not take it for one.
    if (held[at] !== CR || held[at + 1] !== LF) throw new MalformedForm('a boundary does not end its line')
    drop(at)
    state = 'head'
    return true
  }

  function head(): boolean {
    const blank = indexOf(held, BLANK, 0)
    if (blank > LONGEST_HEAD_BYTES || (blank === -1 && held.byteLength > LONGEST_HEAD_BYTES + BLANK.byteLength)) {
      throw new MalformedForm('the headers of a part are too long')
    }
    if (blank === -1) return false
    if (parts.length === MOST_PARTS) throw new MalformedForm(`it has more than ${MOST_PARTS} parts`)
    const start = offset + blank + BLANK.byteLength
    parts.push({ ...headersOf(utf8.decode(held.subarray(0, blank))), start, end: undefined, text: undefined })
    known = start
    // The line end may also begin the boundary after an empty value.
    drop(blank + CRLF.byteLength)
    state = 'value'
    return true
  }

  return {
    push(bytes) {
      if (state === 'closed') return
      if (delimiter === NOTHING) delimiter = encoder.encode(`\r\n--${boundaryOf(contentType)}`)
      if (isSeparate(bytes)) {
        keepText(offset + held.byteLength)
        checkPreamble(held.byteLength)
        drop(held.byteLength)
      }
      held = held.byteLength === 0 ? bytes : joinBytes([held, bytes])
      for (let progress = true; progress; ) {
        if (state === 'delimiter') progress = lineEnd()
        else if (state === 'head') progress = head()
        else progress = value()
      }
      // Copied: the caller may reuse the memory of its bytes.
      held = held.slice()
    },
    end() {
      if (state === 'closed') return
      boundaryOf(contentType)
      if (state === 'preamble') throw new MalformedForm('the boundary does not occur')
      if (state === 'head') throw new MalformedForm('a part has no end to its headers')
      throw new MalformedForm('the last boundary is missing')
    },
    parts,
    get known() {
      return known
    },
    get closing() {
      return state === 'closed' ? boundaryAt : undefined
    },
  }
}

export function boundaryOf(contentType: string): string {
  const found = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(contentType)
  const boundary = found?.[1] ?? found?.[2]
  if (!/^multipart\/form-data\b/i.test(contentType) || !boundary) throw new MalformedForm('not a form with a boundary')
  return boundary
}

function indexOf(bytes: Uint8Array, sought: Uint8Array, from: number): number {
  const last = bytes.byteLength - sought.byteLength
  for (let at = bytes.indexOf(CR, from); at !== -1 && at <= last; at = bytes.indexOf(CR, at + 1)) {
    let matched = 1
    while (matched < sought.byteLength && bytes[at + matched] === sought[matched]) matched++
    if (matched === sought.byteLength) return at
  }
  return -1
}

/** Matches one parameter after another, so that text inside a quoted value is not taken for a parameter. A backslash
 *  only escapes a quote. */
const PARAMETER = /;\s*([\w*-]+)=(?:"((?:\\"|[^"])*)"(?=\s*(?:;|$))|([^;\s]*))/g

/** The name, filename and content type of a part. Throws where parsers may differ: the form is passed on unchanged, and
 *  the provider could read a field that the gateway has not checked, such as another model. */
function headersOf(head: string): Pick<Part, 'name' | 'filename' | 'contentType'> {
  const lines = head.split('\r\n')
  if (lines.some((line) => /^[ \t]|[\r\n]/.test(line))) throw new MalformedForm('a header of a part has several lines')
  const dispositions = lines.filter((line) => /^content-disposition\s*:/i.test(line))
  if (dispositions.length > 1) throw twoNames()
  const header = (name: string) => {
    const line = lines.find((line) => line.toLowerCase().startsWith(`${name}:`))
    return line?.slice(name.length + 1).trim()
  }
  const parameters = new Map<string, string>()
  const disposition = header('content-disposition') ?? ''
  if (/\bname\*?\s*=/i.test(disposition.replace(PARAMETER, ''))) throw twoNames()
  if (disposition.includes('\\"') && [...disposition.matchAll(NAME)].length > 1) throw twoNames()
  for (const [, key = '', quoted, bare = ''] of disposition.matchAll(PARAMETER)) {
    const name = key.toLowerCase()
    if (name === 'name*' || (name === 'name' && (parameters.has(name) || bare.includes('"')))) throw twoNames()
    if (!parameters.has(name)) parameters.set(name, quoted === undefined ? bare : unquoted(quoted))
  }
  const name = parameters.get('name')
  if (name === undefined) throw new MalformedForm('a part has no name')
  const extended = parameters.get('filename*')
  const filename = parameters.get('filename') ?? (extended === undefined ? undefined : extendedValue(extended))
  return { name, filename, contentType: header('content-type') || 'application/octet-stream' }
}

/** The beginning of a name parameter, also inside a quoted value. */
const NAME = /;\s*name\*?\s*=/gi

function twoNames(): MalformedForm {
  return new MalformedForm('the name of a part can be read in two ways')
}

/** Decodes the three characters that browsers escape by percent signs, and the quote that older clients escape by a
 *  backslash. */
function unquoted(text: string): string {
  return text.replaceAll('\\"', '"').replaceAll('%22', '"').replace(/%0d/gi, '\r').replace(/%0a/gi, '\n')
}

/** Decodes an extended value, such as `UTF-8''gr%C3%BC%C3%9Fe.wav`. */
function extendedValue(text: string): string {
  const value = text.slice(text.lastIndexOf("'") + 1)
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
