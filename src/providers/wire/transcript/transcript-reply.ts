import type { TranscriptionRequest } from '../../../modes/audio-transcription.ts'
import { type Usage, usageOf } from '../../../modes/usage.ts'
import type { Reply } from '../../provider.ts'
import { segmentsOf } from './segments.ts'
import { subRip, webVtt } from './subtitles.ts'
import type { Transcript } from './transcript.ts'

const encoder = new TextEncoder()

type Format = NonNullable<TranscriptionRequest['response_format']>

interface Writing {
  readonly contentType: string
  write(transcript: Transcript, request: TranscriptionRequest): string
}

const json = (shape: (transcript: Transcript, request: TranscriptionRequest) => object): Writing => ({
  contentType: 'application/json',
  write: (transcript, request) => JSON.stringify(shape(transcript, request)),
})

const plain = (contentType: string, write: Writing['write']): Writing => ({
  contentType: `${contentType}; charset=utf-8`,
  write,
})

const FORMATS: Readonly<Record<Format, Writing>> = {
  json: json((transcript) => ({ text: transcript.text, ...told(transcript) })),
  verbose_json: json(verbose),
  diarized_json: json(diarized),
  text: plain('text/plain', ({ text }) => `${text}\n`),
  srt: plain('text/plain', (transcript) => subRip(segmentsOf(transcript))),
  vtt: plain('text/vtt', (transcript) => webVtt(segmentsOf(transcript))),
}

/** A transcript in the format that the client asked for, with what its vendor bills. */
export function transcriptReply(
  transcript: Transcript,
  request: TranscriptionRequest,
  usage: Usage | undefined = heard(transcript.seconds),
): Reply {
  const { contentType, write } = FORMATS[request.response_format ?? 'json']
  return {
    bytes: encoder.encode(write(transcript, request)),
    contentType,
    usage,
    outputCharacters: transcript.text.length,
  }
}

/** The usage of a recording that is billed by its length. */
export function heard(seconds: number | undefined): Usage | undefined {
  return seconds ? usageOf({ audioSeconds: rounded(seconds) }) : undefined
}

/** Formats that need the time of each word. */
export const TIMED_FORMATS: ReadonlySet<unknown> = new Set<Format>(['verbose_json', 'diarized_json', 'srt', 'vtt'])

function verbose(transcript: Transcript, request: TranscriptionRequest): object {
  const asked = [request.timestamp_granularities ?? 'segment'].flat()
  const { text, language, seconds, words } = transcript
  return {
    task: 'transcribe',
    language: language ?? request.language ?? '',
    duration: rounded(seconds ?? 0),
    text,
    ...(asked.includes('word')
      ? { words: words.map((word) => ({ word: word.text, start: rounded(word.start), end: rounded(word.end) })) }
      : {}),
    ...(asked.includes('segment')
      ? { segments: segmentsOf(transcript).map((segment, id) => verboseSegment(id, segment, request)) }
      : {}),
    ...told(transcript),
  }
}

/** A segment with every field that typed clients require. Fields that only OpenAI measures have neutral values, so that a
 *  client that filters by them keeps the segment. */
function verboseSegment(
  id: number,
  { start, end, text }: { start: number; end: number; text: string },
  { temperature }: TranscriptionRequest,
): object {
  return {
    id,
    seek: 0,
    start: rounded(start),
    end: rounded(end),
    text,
    tokens: [],
    temperature: temperature ?? 0,
    avg_logprob: 0,
    compression_ratio: 1,
    no_speech_prob: 0,
  }
}

function diarized(transcript: Transcript): object {
  const { text, seconds } = transcript
  const segments = segmentsOf(transcript).map(({ start, end, text, speaker }, index) => ({
    type: 'transcript.text.segment',
    id: `seg_${index}`,
    start: rounded(start),
    end: rounded(end),
    text,
    speaker: speaker ?? 'speaker_0',
  }))
  return { task: 'transcribe', duration: rounded(seconds ?? 0), text, segments, ...told(transcript) }
}

const told = ({ seconds }: Transcript) => (seconds ? { usage: { type: 'duration', seconds: rounded(seconds) } } : {})

/** To milliseconds: sums and differences of times have long tails. */
const rounded = (seconds: number) => Math.round(seconds * 1000) / 1000
