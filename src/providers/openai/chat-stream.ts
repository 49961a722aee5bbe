import { latin1Text } from '../../lib/bytes/latin1.ts'
import { type Frame, frameIn, frameSplitter, readFrame } from '../../lib/bytes/sse.ts'
import { asRecord, isRecord, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { StreamReader, StreamStep } from '../provider.ts'
import { type AlikeChunks, chunksLike } from '../wire/alike-chunks.ts'
import { madeField, madeInChoices } from '../wire/made-ids.ts'
import { callIndexes } from './answers/call-indexes.ts'
import { withoutNullUsage } from './answers/null-usage.ts'
import { withTextContent } from './answers/text-content.ts'
import { openaiEmbeddedFailure } from './failure.ts'
import { openaiUsage, writtenForLong } from './usage.ts'

const DONE = new TextEncoder().encode('data: [DONE]\n\n')
const NOTHING: StreamStep = {}
/** Members whose text is written once more. In a text of JSON their quotes would be escaped. */
const QUOTED = /"tool_calls"|"error"/
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
  /** What is written to the cache is kept for twelve hours. */
  readonly writesForLong?: true
}): StreamReader {
  const awaited = options.choices ?? 1
  const indexed = new Map<unknown, ReturnType<typeof callIndexes>>()
  /** A delta as OpenAI's clients read it; the same where it is that already. */
  const asRead = (index: unknown, delta: JsonRecord): JsonRecord => {
    const { tool_calls: calls } = delta
    let read = delta
    if (Array.isArray(calls)) {
      const known = indexed.get(index) ?? callIndexes()
      indexed.set(index, known)
      const tool_calls = known(calls)
      if (tool_calls !== calls) read = { ...read, tool_calls }
    }
    return (options.textContent && withTextContent(read)) || read
  }
  const shown = (frame: Frame) => (options.hideUsage ? withoutNullUsage(frame) : frame.bytes)
  const reported = (chunk: JsonRecord) =>
    options.usageUnder === undefined ? chunk.usage : (chunk.usage ?? asRecord(chunk[options.usageUnder]).usage)
  /** Whether text of a frame may be written once more. */
  const isQuoted = ({ text }: Frame) => options.textContent === true || QUOTED.test(text)
  const read = (frame: Frame): StreamStep => {
    const data = isQuoted(frame) ? readFrame(frame).data : dataOf(frame)
    if (data === undefined) return frame.text.startsWith(':') ? { out: frame.bytes } : NOTHING
    // Some vendors answer with fewer choices than asked for; the answer is complete if every choice that began has ended.
    if (data === '[DONE]') {
      const whole = ended !== undefined && ended.size === begun?.size
      return { out: frame.bytes, done: true, ...(whole ? { finished: true } : {}) }
    }
    const chunk = parseRecord(data)
    if (chunk === undefined) return { malformed: true }
    if (chunk.error !== undefined && chunk.error !== null) return { failure: openaiEmbeddedFailure(chunk.error) }

    const told = openaiUsage(reported(chunk), chunk)
    const usage = options.writesForLong ? writtenForLong(told) : told
    const choices = Array.isArray(chunk.choices) ? chunk.choices : []
    if (choices.length === 0 && chunk.usage && options.hideUsage) return usage ? { usage } : NOTHING

    let characters = 0
    let commits = false
    let finished = false
    let lastDelta: unknown
    let mended: unknown[] | undefined
    for (const [position, choice] of choices.entries()) {
      if (typeof choice !== 'object' || choice === null) continue
      const { index, delta, finish_reason } = choice as { index?: unknown; delta?: unknown; finish_reason?: unknown }
      const content = contentOf(delta)
      lastDelta = delta
      const read = asRead(index, asRecord(delta))
      if (isRecord(delta) && read !== delta) {
        mended ??= [...choices]
        mended[position] = { ...choice, delta: read }
      }
      if (awaited > 1) {
        begun ??= new Set()
        begun.add(index)
      }
      characters += content.characters
      commits ||= content.calls
      if (finish_reason === 'error') return { failure: openaiEmbeddedFailure(asRecord(choice).error) }
      // Some vendors write an empty one into every chunk.
      if (typeof finish_reason === 'string' && finish_reason !== '') {
        commits = true
        if (endsAll(index)) finished = true
      }
    }
    const out = mended ? shown(frameOf({ ...chunk, choices: mended })) : shown(frame)
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

  /** Records the end of a choice; returns whether all choices have ended. */
  const endsAll = (index: unknown): boolean => {
    if (awaited === 1) return true
    ended ??= new Set()
    return ended.add(index).size >= awaited
  }

  const splitter = frameSplitter()
  let begun: Set<unknown> | undefined
  let ended: Set<unknown> | undefined
  let known: AlikeChunks | undefined
  let examples = 0
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

/** The generated characters of a delta, in whatever fields the vendor puts them. */
function contentOf(delta: unknown): { characters: number; calls: boolean } {
  if (typeof delta !== 'object' || delta === null) return { characters: 0, calls: false }
  const { role: _, content, tool_calls, ...other } = delta as Record<string, unknown>
  // Some reasoning models send parts instead of text.
  let characters = typeof content === 'string' ? content.length : Array.isArray(content) ? lengthOf(content) : 0
  for (const key in other) {
    const value = other[key]
    if (typeof value === 'string') characters += value.length
  }
  if (!Array.isArray(tool_calls)) return { characters, calls: false }
  for (const call of tool_calls) {
    const name = call?.function?.name
    const fragment = call?.function?.arguments
    if (typeof name === 'string') characters += name.length
    if (typeof fragment === 'string') characters += fragment.length
  }
  return { characters, calls: tool_calls.length > 0 }
}

function lengthOf(parts: readonly unknown[]): number {
  return parts.length === 0 ? 0 : JSON.stringify(parts).length
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
