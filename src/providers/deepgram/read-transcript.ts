import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { readSeconds } from '../wire/transcript/read-seconds.ts'
import type { Transcript, TranscriptWord } from '../wire/transcript/transcript.ts'

/** The best alternative of every channel; undefined for an answer that is not a transcription. */
export function readTranscript(answer: JsonRecord): Transcript | undefined {
  const channels = channelsOf(answer)
  const best = channels.map((channel) => asRecord(asList(channel.alternatives)[0]))
  if (best.length === 0 || best.some(({ transcript }) => typeof transcript !== 'string')) return undefined
  const words = best.flatMap(({ transcript, words }) => wordsOf(asList(words), asText(transcript)))
  return {
    text: best.map(({ transcript }) => asText(transcript)).join('\n'),
    language: channels.map((channel) => asText(channel.detected_language)).find(Boolean),
    seconds: readSeconds(asRecord(answer.metadata).duration) ?? words.at(-1)?.end,
    words: best.length === 1 ? words : words.sort((a, b) => a.start - b.start),
  }
}

/** The vendor bills every channel that it transcribes separately. */
export function billedSeconds(answer: JsonRecord): number | undefined {
  const seconds = readSeconds(asRecord(answer.metadata).duration)
  return seconds === undefined ? undefined : seconds * channelsOf(answer).length
}

const channelsOf = (answer: JsonRecord) => asList(asRecord(answer.results).channels).map(asRecord)

/** The words with the gaps between them, which only the whole text contains. */
function wordsOf(list: readonly unknown[], text: string): TranscriptWord[] {
  const words: TranscriptWord[] = []
  let at = 0
  for (const word of list) {
    if (!isRecord(word)) continue
    const written = asText(word.punctuated_word) || asText(word.word)
    const from = skipSpace(text, at)
    const follows = text.startsWith(written, from)
    const gap = words.length === 0 ? '' : follows ? text.slice(at, from) : ' '
    if (follows) at = from + written.length
    const start = readSeconds(word.start) ?? words.at(-1)?.end ?? 0
    const end = Math.max(start, readSeconds(word.end) ?? start)
    words.push({ text: written, gap, start, end, speaker: speakerOf(word.speaker) })
  }
  return words
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (/\s/.test(text[at] ?? '')) at++
  return at
}

const speakerOf = (speaker: unknown) => (typeof speaker === 'number' ? `speaker_${speaker}` : undefined)
