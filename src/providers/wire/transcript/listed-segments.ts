import { asList, asRecord, asText, type JsonRecord } from '../../../lib/json/lenient.ts'
import { readSeconds } from './read-seconds.ts'
import { timedWords } from './timed-words.ts'
import type { Transcript } from './transcript.ts'

/** The transcript of an answer that lists its segments, as OpenAI's and Mistral's do; of so many seconds, if it tells. */
export function listedSegments(answer: JsonRecord, seconds: number | undefined): Transcript {
  const text = asText(answer.text)
  const segments = asList(answer.segments).map(asRecord)
  const words = timedWords(
    segments.map(({ text: said, start, end, speaker, speaker_id }) => ({
      text: asText(said).trim(),
      start,
      end,
      speaker: asText(speaker) || asText(speaker_id) || undefined,
    })),
    text,
  )
  return {
    text,
    language: asText(answer.language) || undefined,
    seconds: seconds ?? readSeconds(answer.duration) ?? words.at(-1)?.end,
    words,
  }
}
