const FLUSH_MS = 50
const FLUSH_BYTES = 65_536

export interface LineWriter {
  write(line: string): void
  /** Writes pending lines. Call it before the process ends. */
  flush(): void
}

/** Writes several lines at once: a write blocks the process, and every request writes a line. */
export function lineWriter(write: (text: string) => void): LineWriter {
  let pending = ''
  let timer: NodeJS.Timeout | undefined
  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (pending === '') return
    const text = pending
    pending = ''
    write(text)
  }
  return {
    flush,
    write(line) {
      pending += `${line}\n`
      if (pending.length >= FLUSH_BYTES) flush()
      else timer ??= setTimeout(flush, FLUSH_MS)
    },
  }
}
