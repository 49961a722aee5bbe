import type { Segment, Transcript, TranscriptWord } from './transcript.ts'

/** The usual limits of subtitles: two lines of 42 characters, seven seconds. */
const LONGEST_CHARACTERS = 84
const LONGEST_SECONDS = 7
const PAUSE_SECONDS = 0.8
/** A shorter text before a full stop is taken for an abbreviation, not for a sentence. */
const SHORTEST_CHARACTERS = 8

const SENTENCE_END = /[.!?…。！？][\p{Pe}\p{Pf}"']*$/u

/** Cuts a transcript where a sentence ends, a speaker changes or pauses, or a subtitle would grow too long. */
export function segmentsOf({ text, seconds, words }: Transcript): Segment[] {
  const [first, ...rest] = words
  if (!first) return text === '' ? [] : [{ text, start: 0, end: seconds ?? 0, speaker: undefined }]
  const segments: Segment[] = []
  let open = segmentOf(first)
  for (const word of rest) {
    if (cutsBefore(word, open)) {
      segments.push(open)
      open = segmentOf(word)
    } else {
      open = { ...open, text: `${open.text}${word.gap}${word.text}`, end: Math.max(open.end, word.end) }
    }
  }
  return [...segments, open]
}

const segmentOf = ({ text, start, end, speaker }: TranscriptWord): Segment => ({ text, start, end, speaker })

function cutsBefore(word: TranscriptWord, open: Segment): boolean {
  return (
    word.speaker !== open.speaker ||
    word.start - open.end >= PAUSE_SECONDS ||
    word.end - open.start > LONGEST_SECONDS ||
    open.text.length + word.gap.length + word.text.length > LONGEST_CHARACTERS ||
    (open.text.length >= SHORTEST_CHARACTERS && SENTENCE_END.test(open.text))
  )
}
