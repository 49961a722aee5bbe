import type { Pieces } from '../bytes/pieces.ts'
import { formScanner, type Part } from './multipart.ts'
import { type Scratch, type Source, spool } from './spool.ts'

/** A form that is read while it arrives. */
export interface ArrivingForm {
  readonly contentType: string
  /** The length of the whole body, if its sender announced it. */
  readonly length: number | undefined
  /** The number of bytes that have arrived. */
  readonly received: number
  /** The parts in order; the last one may still be arriving. */
  readonly parts: readonly Part[]
  /** The offset of the last boundary; undefined until every field has arrived and passed the check. */
  readonly closing: number | undefined
  /** The sender has sent everything. */
  readonly ended: boolean
  /** Whether all but the newest bytes leave the memory. */
  readonly movesOut: boolean
  /** False once the first bytes have been dropped: the form cannot be sent again. */
  readonly repeatable: boolean
  /** Waits for more bytes. Rejects with MalformedForm, with the error of `check` or with that of the source; so does
   *  every later call. */
  pull(): Promise<void>
  /** Waits for the whole form. */
  whole(): Promise<void>
  /** Restarts reading at the first byte. Earlier readers fail. */
  reader(): FormReader
  /** Drops the form. */
  close(): void
}

interface FormReader {
  /** The bytes from `start` to `end`, which may become known later. */
  from(start: number, end?: () => number | undefined): Pieces
}

/** `check` is called once, after the last field arrived and before the last bytes are passed to readers, so that
 *  readers never see an invalid form as complete. */
export function arrivingForm(
  source: Source & { readonly length: number | undefined },
  {
    contentType,
    check,
    watch,
    scratch,
  }: {
    readonly contentType: string
    readonly check: (form: ArrivingForm) => void
    /** Called with every piece and its offset when it has arrived. */
    readonly watch?: (form: ArrivingForm, piece: Uint8Array, start: number) => void
    readonly scratch?: (() => Promise<Scratch>) | undefined
  },
): ArrivingForm {
  const scanner = formScanner(contentType)
  const bytes = spool(source, scratch)
  let complete = false
  let failed: { readonly error: unknown } | undefined
  let readers = 0

  function scan(piece: Uint8Array | undefined): void {
    if (failed) return
    try {
      if (piece) {
        scanner.push(piece)
        watch?.(form, piece, bytes.received - piece.byteLength)
      } else scanner.end()
      if (!complete && scanner.closing !== undefined) {
        check(form)
        complete = true
      }
    } catch (error) {
      failed = { error }
    }
  }

  let pulling: Promise<void> | undefined
  async function next(): Promise<void> {
    try {
      scan(await bytes.pull())
    } catch (error) {
      failed ??= { error }
    }
  }

  /** The position of the end of the form, once it has arrived and was found valid. */
  const wholeEnd = () => (complete && bytes.ended ? bytes.received : undefined)

  /** Reads from `start` on, as far as the bytes are known to be valid, until another reader begins. */
  function reading(own: number, start: number, end: () => number | undefined) {
    let position = start
    const until = end()
    function mustBeLatest(): void {
      if (own !== readers) throw new Error('another reader has begun')
    }
    async function read(): Promise<Uint8Array | undefined> {
      for (;;) {
        mustBeLatest()
        const last = end()
        const ready = Math.min(last ?? Number.POSITIVE_INFINITY, complete ? bytes.received : scanner.known)
        if (position < ready) {
          const piece = await bytes.read(position, ready)
          mustBeLatest()
          position += piece.byteLength
          bytes.passed(position)
          return piece
        }
        if (last !== undefined && position >= last) return undefined
        await form.pull()
      }
    }
    return { length: until === undefined ? undefined : until - start, read }
  }

  const form: ArrivingForm = {
    contentType,
    length: source.length,
    get received() {
      return bytes.received
    },
    parts: scanner.parts,
    get closing() {
      return complete ? scanner.closing : undefined
    },
    get ended() {
      return bytes.ended
    },
    get movesOut() {
      return bytes.movesOut
    },
    get repeatable() {
      return bytes.repeatable
    },
    async pull() {
      if (!failed && !bytes.ended) {
        pulling ??= next().finally(() => {
          pulling = undefined
        })
        await pulling
      }
      if (failed) throw failed.error
    },
    async whole() {
      while (!bytes.ended) await form.pull()
      if (failed) throw failed.error
    },
    reader() {
      const own = ++readers
      return { from: (start, end = wholeEnd) => reading(own, start, end) }
    },
    close() {
      readers += 1
      bytes.close()
    },
  }
  return form
}
