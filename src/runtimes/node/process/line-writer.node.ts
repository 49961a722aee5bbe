import { jsonLog } from '../../../lib/log.ts'

const FLUSH_MS = 50
const FLUSH_BYTES = 65_536
/** So much waits for who reads the lines. */
const MOST_WAITING = 16 * 1024 * 1024

export interface LineWriter {
  write(line: string): void
  /** Writes pending lines. Call it before the process ends. */
  flush(): void
}

/** Where lines go, such as the standard output. */
export interface LineEnd {
  write(text: string): unknown
  /** How much of it waits to be read. */
  readonly writableLength: number
}

/** Writes several lines at once: a write blocks the process, and every request writes a line. While nobody reads them,
 *  they wait up to a bound; further ones are left out, which a line tells once there is room. */
export function lineWriter(end: LineEnd, mostWaiting = MOST_WAITING): LineWriter {
  let pending = ''
  let timer: NodeJS.Timeout | undefined
  let missing = 0
  const ownLog = jsonLog('error', (line) => {
    pending += `${line}\n`
  })
  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (pending === '') return
    const text = pending
    pending = ''
    end.write(text)
  }
  return {
    flush,
    write(line) {
      if (end.writableLength + pending.length > mostWaiting) {
        missing += 1
        return
      }
      if (missing > 0) ownLog.error('log.dropped', { lines: missing })
      missing = 0
      pending += `${line}\n`
      if (pending.length >= FLUSH_BYTES) flush()
      else timer ??= setTimeout(flush, FLUSH_MS)
    },
  }
}
