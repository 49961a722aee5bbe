import { readSeconds } from './read-seconds.ts'
import type { TranscriptWord } from './transcript.ts'

/** A word, or several, with the times that a vendor reports. */
interface Timed {
  readonly text: string
  readonly start?: unknown
  readonly end?: unknown
  readonly speaker: string | undefined
}

/** Words with the gaps between them, which only the whole text contains. */
export function timedWords(list: readonly Timed[], text: string): TranscriptWord[] {
  const words: TranscriptWord[] = []
  let at = 0
  for (const { text: written, start: from, end: until, speaker } of list) {
    const begins = skipSpace(text, at)
    const follows = text.startsWith(written, begins)
    const gap = words.length === 0 ? '' : follows ? text.slice(at, begins) : ' '
    if (follows) at = begins + written.length
    const start = readSeconds(from) ?? words.at(-1)?.end ?? 0
    const end = Math.max(start, readSeconds(until) ?? start)
    words.push({ text: written, gap, start, end, speaker })
  }
  return words
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (/\s/.test(text[at] ?? '')) at++
  return at
}
