import { joinBytes } from '../bytes/bytes.ts'

/** One part of a form, by where its value stands in the body. */
export interface Part {
  readonly name: string
  /** undefined for a plain field. */
  readonly filename: string | undefined
  readonly contentType: string
  readonly start: number
  /** undefined while it is still coming. */
  readonly end: number | undefined
  /** The value of a plain field that has come; undefined of a file. */
  readonly text: string | undefined
}

/** The body is not the form that its media type promises. */
export class MalformedForm extends Error {
  override readonly name = 'MalformedForm'
}

/** Reads a form as it comes. */
export interface FormScanner {
  /** Takes the next bytes, cut anywhere. */
  push(bytes: Uint8Array): void
  /** Throws unless the last boundary has come. */
  end(): void
  /** In order; the last one may still be coming. */
  readonly parts: readonly Part[]
  /** So many bytes are known for what they are: values, not the beginning of a boundary. */
  readonly known: number
  /** Where the last boundary begins; undefined while it has not come. */
  readonly closing: number | undefined
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/** More than any client of these endpoints sends; without a limit a body could be made of a million parts. */
const MOST_PARTS = 1000
const LONGEST_HEAD_BYTES = 16_384
/** All plain fields together. They are held in memory; only files may be long. */
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
  // The first boundary may stand at the very beginning: as if a line had ended before it.
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

  /** A parser that takes lines to end in LF alone would find a part in them. */
  function skipWords(count: number): void {
    if (state !== 'preamble') return
    const at = held.indexOf(LF, Math.max(0, -offset))
    if (at !== -1 && at < count) throw new MalformedForm('there are lines before its first boundary')
  }

  /** No boundary lies over the seam of what is held and what comes: a long piece need not be copied to look for one. */
  function beginsInside(bytes: Uint8Array): boolean {
    if ((state !== 'value' && state !== 'preamble') || bytes.byteLength < delimiter.byteLength) return false
    return indexOf(joinBytes([held, bytes.subarray(0, delimiter.byteLength - 1)]), delimiter, 0) === -1
  }

  /** Up to the next boundary; false when it has not come. */
  function value(): boolean {
    const at = indexOf(held, delimiter, 0)
    const until = offset + (at === -1 ? Math.max(0, held.byteLength - delimiter.byteLength + 1) : at)
    keepText(until)
    const open = parts.at(-1)
    if (state === 'value' && open) known = Math.max(open.start, until)
    if (at === -1) {
      skipWords(until - offset)
      drop(until - offset)
      return false
    }
    if (state === 'value' && open) {
      const end = Math.max(open.start, until)
      parts[parts.length - 1] = { ...open, end, text: isText() ? utf8.decode(joinBytes(text)) : undefined }
      text = []
    }
    boundaryAt = Math.max(0, until)
    skipWords(at)
    drop(at + delimiter.byteLength)
    state = 'delimiter'
    return true
  }

  /** What stands behind a boundary on its line. */
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
    // A longer word that only begins like the boundary: others may read on where we would stop.
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
    // The end of the blank line may belong to the boundary of a value that is not there.
    drop(blank + CRLF.byteLength)
    state = 'value'
    return true
  }

  return {
    push(bytes) {
      if (state === 'closed') return
      if (delimiter === NOTHING) delimiter = encoder.encode(`\r\n--${boundaryOf(contentType)}`)
      if (beginsInside(bytes)) {
        keepText(offset + held.byteLength)
        skipWords(held.byteLength)
        drop(held.byteLength)
      }
      held = held.byteLength === 0 ? bytes : joinBytes([held, bytes])
      for (let goesOn = true; goesOn; ) {
        if (state === 'delimiter') goesOn = lineEnd()
        else if (state === 'head') goesOn = head()
        else goesOn = value()
      }
      // What is held is the caller's, who may write over it.
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

function indexOf(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  const last = bytes.byteLength - wanted.byteLength
  for (let at = bytes.indexOf(CR, from); at !== -1 && at <= last; at = bytes.indexOf(CR, at + 1)) {
    let matched = 1
    while (matched < wanted.byteLength && bytes[at + matched] === wanted[matched]) matched++
    if (matched === wanted.byteLength) return at
  }
  return -1
}

/** One parameter after another, so that what looks like one inside a quoted value is not taken for it. A quote may be
 *  escaped by a backslash; any other backslash is itself. */
const PARAMETER = /;\s*([\w*-]+)=(?:"((?:\\"|[^"])*)"(?=\s*(?:;|$))|([^;\s]*))/g

/** A form is passed on as it came: what another parser may take for another name would be a field that nobody has
 *  looked at here, such as another model. */
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

/** What begins a name, also where it looks as if it stood inside a quoted value. */
const NAME = /;\s*name\*?\s*=/gi

function twoNames(): MalformedForm {
  return new MalformedForm('the name of a part can be read in two ways')
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
