import { asRecord } from '../lib/lenient.ts'
import type { Frame } from '../lib/sse.ts'
import { readFrame } from '../lib/sse.ts'
import { openaiEmbeddedFailure } from './openai-failure.ts'
import { openaiUsage } from './openai-usage.ts'
import type { StreamReader, StreamStep } from './provider.ts'
import { sseReader } from './sse-reader.ts'

const DONE = new TextEncoder().encode('data: [DONE]\n\n')
const NOTHING: StreamStep = {}

interface Chunk {
  readonly error?: unknown
  readonly usage?: unknown
  readonly choices?: unknown
  readonly [vendors: string]: unknown
}

/** Relays the events of an OpenAI-shaped chat stream byte for byte, reading along. The usage event that the gateway
 *  asked for is kept from a client that did not. */
export function openaiChatStream(options: { hideUsage: boolean; usageUnder?: string }): StreamReader {
  const reported = (chunk: Chunk) =>
    options.usageUnder === undefined ? chunk.usage : (chunk.usage ?? asRecord(chunk[options.usageUnder]).usage)
  const read = (frame: Frame): StreamStep => {
    const data = dataOf(frame)
    if (data === undefined) return frame.text.startsWith(':') ? { out: frame.bytes } : NOTHING
    if (data === '[DONE]') return { out: frame.bytes, done: true }
    const chunk = parse(data)
    if (chunk === undefined) return { malformed: true }
    if (chunk.error !== undefined && chunk.error !== null) return { failure: openaiEmbeddedFailure(chunk.error) }

    const usage = openaiUsage(reported(chunk))
    const choices = Array.isArray(chunk.choices) ? chunk.choices : []
    if (choices.length === 0 && chunk.usage && options.hideUsage) return usage ? { usage } : NOTHING

    let characters = 0
    let commits = false
    let finished = false
    for (const choice of choices) {
      if (typeof choice !== 'object' || choice === null) continue
      const { delta, finish_reason } = choice as { delta?: unknown; finish_reason?: unknown }
      const content = contentOf(delta)
      characters += content.characters
      commits ||= content.calls
      if (typeof finish_reason === 'string') finished = true
    }
    return {
      out: frame.bytes,
      characters,
      ...(commits || finished ? { commits: true } : {}),
      ...(finished ? { finished } : {}),
      ...(usage ? { usage } : {}),
    }
  }
  return sseReader(read, () => DONE)
}

/** Everything that a model can say in a delta, whatever the vendor calls it, in characters. */
function contentOf(delta: unknown): { characters: number; calls: boolean } {
  if (typeof delta !== 'object' || delta === null) return { characters: 0, calls: false }
  const { role: _, content, tool_calls, ...other } = delta as Record<string, unknown>
  // Some reasoning models speak in parts.
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

/** The data of a frame. The usual one-line frame is read without decoding its bytes again: only counts and ASCII words
 *  are taken from it. */
function dataOf(frame: Frame): string | undefined {
  const { text } = frame
  if (text.startsWith('data: ')) {
    const lineEnd = text.indexOf('\n')
    if (lineEnd === text.length - 2) return text.slice(6, lineEnd)
  }
  return readFrame(frame).data
}

function parse(data: string): Chunk | undefined {
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Chunk) : undefined
  } catch {
    return undefined
  }
}
