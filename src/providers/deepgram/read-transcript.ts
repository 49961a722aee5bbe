import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { readSeconds } from '../wire/transcript/read-seconds.ts'
import type { Transcript, TranscriptWord } from '../wire/transcript/transcript.ts'

/** The best alternative of every channel; undefined for what is no transcription. */
export function readTranscript(answer: JsonRecord): Transcript | undefined {
  const channels = channelsOf(answer)
  const heard = channels.map((channel) => asRecord(asList(channel.alternatives)[0]))
  if (heard.length === 0 || heard.some(({ transcript }) => typeof transcript !== 'string')) return undefined
  const words = heard.flatMap(({ transcript, words }) => wordsOf(asList(words), asText(transcript)))
  return {
    text: heard.map(({ transcript }) => asText(transcript)).join('\n'),
    language: channels.map((channel) => asText(channel.detected_language)).find(Boolean),
    seconds: readSeconds(asRecord(answer.metadata).duration) ?? words.at(-1)?.end,
    words: heard.length === 1 ? words : words.sort((a, b) => a.start - b.start),
  }
}

/** The vendor bills each channel that it was asked to tell apart. */
export function billedSeconds(answer: JsonRecord): number | undefined {
  const seconds = readSeconds(asRecord(answer.metadata).duration)
  return seconds === undefined ? undefined : seconds * channelsOf(answer).length
}

const channelsOf = (answer: JsonRecord) => asList(asRecord(answer.results).channels).map(asRecord)

/** Words come without what stands between them; the whole text has it. */
function wordsOf(list: readonly unknown[], text: string): TranscriptWord[] {
  const words: TranscriptWord[] = []
  let at = 0
  for (const word of list) {
    if (!isRecord(word)) continue
    const said = asText(word.punctuated_word) || asText(word.word)
    const from = skipSpace(text, at)
    const follows = text.startsWith(said, from)
    const gap = words.length === 0 ? '' : follows ? text.slice(at, from) : ' '
    if (follows) at = from + said.length
    const start = readSeconds(word.start) ?? words.at(-1)?.end ?? 0
    const end = Math.max(start, readSeconds(word.end) ?? start)
    words.push({ text: said, gap, start, end, speaker: speakerOf(word.speaker) })
  }
  return words
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (/\s/.test(text[at] ?? '')) at++
  return at
}

const speakerOf = (speaker: unknown) => (typeof speaker === 'number' ? `speaker_${speaker}` : undefined)
