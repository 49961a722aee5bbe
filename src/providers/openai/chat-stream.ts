import { latin1Text } from '../../lib/bytes/latin1.ts'
import { type Frame, frameIn, frameSplitter, readFrame } from '../../lib/bytes/sse.ts'
import { asRecord, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { Usage } from '../../modes/usage.ts'
import type { StreamReader, StreamStep } from '../provider.ts'
import { type AlikeChunks, chunksLike } from '../wire/alike-chunks.ts'
import { madeField, madeInChoices } from '../wire/made-ids.ts'
import { chatChoices } from './answers/chat-choices.ts'
import { withoutNullUsage } from './answers/null-usage.ts'
import { openaiEmbeddedFailure } from './failure.ts'
import { reportedError } from './read-error.ts'
import { openaiUsage, writtenForLong } from './usage.ts'

const DONE = new TextEncoder().encode('data: [DONE]\n\n')
const NOTHING: StreamStep = {}
/** Members whose text is written once more. In a text of JSON their quotes would be escaped. */
const QUOTED = /"tool_calls"|"error"|"detail"|"message"/
/** An event that names itself an error. */
const ERROR_EVENT = /^event: ?error\b/m
/** How many chunks of a stream are tried as a pattern for the others. Some vendors put a new time or id into each chunk. */
const MOST_EXAMPLES = 4

/** Relays the events of an OpenAI-shaped chat stream byte for byte and reads them on the way. Chunks that differ from an
 *  earlier one in their text only are not parsed, and consecutive text chunks are relayed as one piece. The usage that
 *  the gateway asked for, and the empty one in every other chunk, are withheld from a client that did not ask. */
export function openaiChatStream(options: {
  readonly hideUsage: boolean
  readonly usageUnder?: string
  readonly choices?: number
  /** The vendor writes parts where OpenAI writes text. */
  readonly textContent?: true
  /** The answer goes to another dialect, with the details that the vendor wants back as signed thoughts. */
  readonly sealsDetails?: true
  /** What is written to the cache is kept for twelve hours. */
  readonly writesForLong?: true
}): StreamReader {
  const { choices: awaited = 1, textContent = false, sealsDetails = false } = options
  const answered = chatChoices(awaited, { textContent, sealsDetails })
  const splitter = frameSplitter()
  let known: AlikeChunks | undefined
  let examples = 0
  const shown = (frame: Frame) => (options.hideUsage ? withoutNullUsage(frame) : frame.bytes)
  /** Whether text of a frame may be written once more. */
  const isQuoted = ({ text }: Frame) => textContent || sealsDetails || QUOTED.test(text)

  function usageOf(chunk: JsonRecord): Usage | undefined {
    const { usageUnder, writesForLong } = options
    const reported = usageUnder === undefined ? chunk.usage : (chunk.usage ?? asRecord(chunk[usageUnder]).usage)
    const usage = openaiUsage(reported, chunk)
    return writesForLong ? writtenForLong(usage) : usage
  }

  function read(frame: Frame): StreamStep {
    const data = isQuoted(frame) ? readFrame(frame).data : dataOf(frame)
    if (data === undefined) return frame.text.startsWith(':') ? { out: frame.bytes } : NOTHING
    if (data === '[DONE]') return { out: frame.bytes, done: true, ...(answered.haveEnded() ? { finished: true } : {}) }
    const chunk = parseRecord(data)
    if (chunk === undefined) return { malformed: true }
    const error = reportedError(chunk, ERROR_EVENT.test(frame.text))
    if (error !== undefined) return { failure: openaiEmbeddedFailure(error) }
    return stepOf(chunk, frame)
  }

  function stepOf(chunk: JsonRecord, frame: Frame): StreamStep {
    const usage = usageOf(chunk)
    const choices = Array.isArray(chunk.choices) ? chunk.choices : []
    if (choices.length === 0 && chunk.usage && options.hideUsage) return usage ? { usage } : NOTHING
    const said = answered.read(choices)
    if ('failure' in said) return said
    const { characters, commits, finished, lastDelta, mended } = said
    const out = shown(mended ? frameOf({ ...chunk, choices: mended }) : frame)
    // Only audio has an id of its own.
    const step: StreamStep = asRecord(lastDelta).audio
      ? { out, characters, ...madeField(madeInChoices(choices, 'delta')) }
      : { out, characters }
    if (commits || usage) {
      return {
        ...step,
        ...(commits ? { commits: true } : {}),
        ...(finished ? { finished } : {}),
        ...(usage ? { usage } : {}),
      }
    }
    if (choices.length === 1 && characters > 0 && examples < MOST_EXAMPLES) {
      examples += 1
      known = chunksLike(frame.text, asRecord(lastDelta)) ?? known
    }
    return step
  }

  return {
    push(piece) {
      const frames = splitter.cut(piece)
      const steps: StreamStep[] = []
      let start = 0
      // Where the current run of unparsed text chunks began, and its characters.
      let since = 0
      let characters = 0
      const pushAlike = () => {
        if (start > since) steps.push({ out: shown(frameIn(frames, since, start)), characters })
        characters = 0
      }
      for (const end of frames.ends) {
        const alike = known?.charactersIn(frames.text, start, end) ?? -1
        if (alike >= 0) {
          characters += alike
        } else {
          pushAlike()
          steps.push(read(frameIn(frames, start, end)))
          since = end
        }
        start = end
      }
      pushAlike()
      return steps
    },
    closing: () => DONE,
  }
}

const encoder = new TextEncoder()

function frameOf(chunk: JsonRecord): Frame {
  const bytes = encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`)
  return { bytes, text: latin1Text(bytes) }
}

/** The data of a frame. A frame of one line is not decoded as UTF-8: only counts and ASCII values are read from it. */
function dataOf(frame: Frame): string | undefined {
  const { text } = frame
  if (text.startsWith('data: ')) {
    const lineEnd = text.indexOf('\n')
    if (lineEnd === text.length - 2) return text.slice(6, lineEnd)
  }
  return readFrame(frame).data
}
