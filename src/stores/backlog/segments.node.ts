import { randomBytes } from 'node:crypto'
import { type FileHandle, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Backlog } from './backlog.ts'

export interface Segments extends Backlog {
  /** Adds a file that is in the folder now. */
  adopt(file: string): void
  close(): Promise<void>
}

export interface SegmentsOptions {
  /** The folder of this process. */
  readonly place: () => string
  readonly failed: (error: unknown) => void
  /** The limit of the bytes in all folders. */
  readonly limit: number
  readonly used: () => number
}

/** The size at which a file is closed. Files are read as a whole. */
const SEGMENT_BYTES = 4 * 1024 * 1024
/** How many entries are serialized at once, so that other work can run in between. */
const ENTRIES_A_WRITE = 500

/** File names sort by age and are unique across processes. */
const newName = (topic: string) =>
  `${topic}.${String(Date.now()).padStart(15, '0')}.${String(serial++).padStart(9, '0')}.${randomBytes(4).toString('hex')}.jsonl`
let serial = 0
const NAMED = /^([a-z_]+)\.\d{15}\.\d{9}\.[0-9a-f]{8}\.jsonl$/

export const isSegment = (file: string) => NAMED.test(file)
export const topicOf = (file: string) => NAMED.exec(file)?.[1] ?? ''

interface Tail {
  readonly file: string
  readonly handle: FileHandle
  bytes: number
  entries: number
}

/** A backlog in files with one entry per line. A file is either written to or read, and is deleted when all its entries are
 *  removed, so the removed entries of a file that a killed process was reading are returned again. */
export function segments(topic: string, { place, failed, limit, used }: SegmentsOptions): Segments {
  /** The files that are neither written to nor read, oldest first. */
  const whole: { readonly file: string; readonly entries: number }[] = []
  let tail: Tail | undefined
  let head: { readonly file: string; readonly lines: string[]; at: number } | undefined
  /** The bytes in all folders without the tail, as last measured. */
  let usedBefore = 0
  let last: Promise<unknown> = Promise.resolve()

  /** Runs one operation at a time, in order. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }

  function hasRoom(bytes: number): boolean {
    if (tail && usedBefore + tail.bytes + bytes <= limit) return true
    const all = used()
    usedBefore = all - (tail?.bytes ?? 0)
    return all + bytes <= limit
  }

  async function begin(): Promise<Tail> {
    const folder = place()
    const file = newName(topic)
    const handle = await open(join(folder, file), 'ax', 0o600)
    tail = { file, handle, bytes: 0, entries: 0 }
    // The folder is synced too, because it contains the file's name.
    const opened = await open(folder)
    await opened.sync().finally(() => opened.close())
    return tail
  }

  async function seal(): Promise<void> {
    if (!tail) return
    const { file, handle, entries } = tail
    tail = undefined
    whole.push({ file, entries })
    await handle.close().catch(failed)
  }

  /** Writes all entries or none. */
  async function write(entries: readonly object[]): Promise<boolean> {
    const text = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
    try {
      if (tail && tail.bytes >= SEGMENT_BYTES) await seal()
      if (!hasRoom(text.byteLength)) return false
      const to = tail ?? (await begin())
      await to.handle.writeFile(text)
      await to.handle.datasync()
      to.bytes += text.byteLength
      to.entries += entries.length
      return true
    } catch (error) {
      failed(error)
      // A partial write is truncated; if that fails, some entries are returned twice.
      await tail?.handle.truncate(tail.bytes).catch(() => {})
      await seal()
      return false
    }
  }

  async function append(entries: readonly object[]): Promise<number> {
    for (let kept = 0; kept < entries.length; kept += ENTRIES_A_WRITE) {
      if (!(await write(entries.slice(kept, kept + ENTRIES_A_WRITE)))) return kept
    }
    return entries.length
  }

  async function nextHead(): Promise<typeof head> {
    if (whole.length === 0) await seal()
    const [next] = whole
    if (!next) return undefined
    const text = await readFile(join(place(), next.file), 'utf8').catch((error: NodeJS.ErrnoException) => {
      failed(error)
      if (error.code !== 'ENOENT') throw error
      return ''
    })
    whole.splice(whole.indexOf(next), 1)
    return { file: next.file, lines: text.split('\n').filter((line) => line !== ''), at: 0 }
  }

  /** Parses entries; skips a line that a killed process left incomplete. */
  function parsed({ lines, at }: { lines: string[]; at: number }, limitTo: number): object[] {
    const entries: object[] = []
    while (entries.length < limitTo && at + entries.length < lines.length) {
      try {
        entries.push(JSON.parse(lines[at + entries.length] as string))
      } catch {
        lines.splice(at + entries.length, 1)
        failed(new SyntaxError(`a line of the backlog of ${topic} cannot be read`))
      }
    }
    return entries
  }

  async function finish(): Promise<void> {
    if (!head) return
    const { file } = head
    head = undefined
    await unlink(join(place(), file)).catch(failed)
  }

  async function first(limitTo: number): Promise<readonly object[]> {
    for (;;) {
      head ??= await nextHead()
      if (!head) return []
      const entries = parsed(head, limitTo)
      if (entries.length > 0) return entries
      await finish()
    }
  }

  return {
    get isEmpty() {
      return !head && whole.length === 0 && (tail?.bytes ?? 0) === 0
    },
    get depth() {
      const unread = whole.reduce((sum, { entries }) => sum + entries, 0)
      return unread + (tail?.entries ?? 0) + (head ? head.lines.length - head.at : 0)
    },
    append: (entries) => inTurn(() => append(entries)),
    first: (limitTo) => inTurn(() => first(limitTo)),
    remove: (count) =>
      inTurn(async () => {
        if (!head) return
        head.at += count
        if (head.at >= head.lines.length) await finish()
      }),
    adopt(file) {
      whole.push({ file, entries: 0 })
      whole.sort((one, other) => (one.file < other.file ? -1 : 1))
    },
    close: () =>
      inTurn(async () => {
        const empty = tail && tail.bytes === 0 ? tail.file : undefined
        await seal()
        if (empty) await unlink(join(place(), empty)).catch(() => {})
      }),
  }
}
