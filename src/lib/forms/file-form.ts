import { formScanner, MalformedForm, type Part } from './multipart.ts'
import type { Source } from './spool.ts'

/** Everything of a form but its file, which is in memory while the form arrives. */
const MOST_OTHER_BYTES = 65_536

/** What a form with a file of `fileBytes` bytes is long at most. */
export const mostFormBytes = (fileBytes: number): number => fileBytes + MOST_OTHER_BYTES

/** A form with one file, which is read once, while it arrives. Nothing of the file is kept. Everything here rejects with
 *  MalformedForm or with the error of the source. */
export interface FileForm {
  /** Waits until the file has begun. */
  file(): Promise<Part>
  /** The next bytes of the file; undefined at its end. */
  read(): Promise<Uint8Array | undefined>
  /** Waits for the end of the form, once the file was read. */
  end(): Promise<void>
  /** The values of the plain fields that have arrived. */
  fields(): ReadonlyMap<string, string>
}

/** `name` is that of the file's part. */
export function fileForm(source: Source, contentType: string, name: string): FileForm {
  const scanner = formScanner(contentType)
  const { parts } = scanner
  let received = 0
  let ended = false
  /** Bytes of the file that have not been read. A boundary may begin in the last of them. */
  let held: { readonly start: number; readonly bytes: Uint8Array }[] = []
  /** Where reading goes on; undefined until the file has begun. */
  let position: number | undefined

  const file = () => parts.find(({ filename }) => filename !== undefined)
  /** What lies before this offset is known to belong to the file. */
  const knownUntil = (part: Part) => part.end ?? scanner.known

  async function pull(): Promise<void> {
    const bytes = await source.read()
    if (bytes === undefined) {
      scanner.end()
      ended = true
      return
    }
    held.push({ start: received, bytes })
    received += bytes.byteLength
    scanner.push(bytes)
    const part = file()
    check(part)
    if (part) position ??= part.start
    const from = part?.end !== undefined && position === part.end ? received : (position ?? received)
    held = held.filter((piece) => piece.start + piece.bytes.byteLength > from)
  }

  function check(part: Part | undefined): void {
    const names = parts.map((one) => one.name)
    if (parts.some((one) => one !== part && one.filename !== undefined)) {
      throw new MalformedForm('it has more than one file')
    }
    if (part && part.name !== name) throw new MalformedForm(`its file is not named '${name}'`)
    if (!part && names.includes(name)) throw new MalformedForm(`'${name}' has no filename, and so is no file`)
    if (new Set(names).size < names.length) throw new MalformedForm('it has two fields of the same name')
    const others = received - (part ? knownUntil(part) - part.start : 0)
    if (others > MOST_OTHER_BYTES) {
      throw new MalformedForm(`it is longer than ${MOST_OTHER_BYTES} bytes without its file`)
    }
  }

  async function begun(): Promise<Part> {
    for (;;) {
      const part = file()
      if (part) return part
      if (ended) throw new MalformedForm(`it has no file named '${name}'`)
      await pull()
    }
  }

  return {
    file: begun,
    async read() {
      for (;;) {
        const part = await begun()
        const from = position ?? part.start
        const until = knownUntil(part)
        const piece = held.find(({ start, bytes }) => start + bytes.byteLength > from)
        if (from < until && piece) {
          const bytes = piece.bytes.subarray(from - piece.start, until - piece.start)
          position = from + bytes.byteLength
          return bytes
        }
        if (part.end !== undefined) return undefined
        await pull()
      }
    },
    async end() {
      while (!ended) await pull()
    },
    fields: () => new Map(parts.flatMap(({ name, text }) => (text === undefined ? [] : [[name, text] as const]))),
  }
}
