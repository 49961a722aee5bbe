import { byteText, encoded } from '../../../lib/bytes/byte-text.ts'
import { type ByteLines, jsonLog } from '../../../lib/log.ts'
import { atMost } from '../../../lib/timers/at-most.ts'

/** With the time that events wait for their readers, a line is written after 50 ms. */
const FLUSH_MS = 40
const FLUSH_BYTES = 65_536
/** Room for the line with which so many bytes are reached. */
const ROOM_BYTES = 16_384
/** So much waits for who reads the lines. */
const MOST_WAITING = 16 * 1024 * 1024
/** How long a process that ends waits for who reads the lines. */
const LAST_MS = 1000
const NEWLINE = encoded('\n')
const NOTHING = encoded('')

export interface LineWriter extends ByteLines {
  write(line: string): void
  /** Writes pending lines. Call it before the process ends. */
  flush(): void
  /** The same; resolves when all lines are with who reads them, or nobody has read them for a while: what is left is lost
   *  where the process ends now. */
  last(): Promise<void>
}

/** Where lines go, such as the standard output. */
export interface LineEnd {
  write(text: Uint8Array, written?: () => void): unknown
  /** How much of it waits to be read. */
  readonly writableLength: number
}

/** Writes several lines at once: a write blocks the process, and every request writes a line. While nobody reads them,
 *  they wait up to a bound; further ones are left out, which a line tells once there is room. */
export function lineWriter(target: LineEnd, mostWaiting = MOST_WAITING): LineWriter {
  const pending = byteText(FLUSH_BYTES + ROOM_BYTES)
  let timer: NodeJS.Timeout | undefined
  let missing = 0
  const ownLog = jsonLog('error', (line) => pending.addText(`${line}\n`))

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (pending.length > 0) target.write(pending.take())
  }

  function begin() {
    if (target.writableLength + pending.length > mostWaiting) {
      missing += 1
      return undefined
    }
    if (missing > 0) ownLog.error('log.dropped', { lines: missing })
    missing = 0
    return pending
  }

  function end(): void {
    pending.add(NEWLINE)
    if (pending.length >= FLUSH_BYTES) flush()
    else timer ??= setTimeout(flush, FLUSH_MS)
  }

  return {
    flush,
    async last() {
      flush()
      await atMost(LAST_MS, new Promise<void>((resolve) => target.write(NOTHING, resolve)))
    },
    begin,
    end,
    write(line) {
      if (!begin()) return
      pending.addText(line)
      end()
    },
  }
}
