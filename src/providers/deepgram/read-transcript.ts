import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { readSeconds } from '../wire/transcript/read-seconds.ts'
import { timedWords } from '../wire/transcript/timed-words.ts'
import type { Transcript } from '../wire/transcript/transcript.ts'

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

const wordsOf = (list: readonly unknown[], text: string) =>
  timedWords(
    list.filter(isRecord).map((word) => ({
      ...word,
      text: asText(word.punctuated_word) || asText(word.word),
      speaker: speakerOf(word.speaker),
    })),
    text,
  )

const speakerOf = (speaker: unknown) => (typeof speaker === 'number' ? `speaker_${speaker}` : undefined)
