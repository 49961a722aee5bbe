import type { GatewayError } from '../../../lib/errors.ts'
import { asRecord, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import { isFailedEnd, openaiEmbeddedFailure } from '../failure.ts'
import { callFragments } from './call-fragments.ts'
import { publicEnd } from './public-ends.ts'
import { detailsReader } from './reasoning-details.ts'
import { withTextContent } from './text-content.ts'

/** What the choices of one chunk say. */
export interface ReadChoices {
  /** Characters of generated content. */
  readonly characters: number
  /** They commit the stream without characters. */
  readonly commits: boolean
  /** All choices of the answer have ended. */
  readonly finished: boolean
  readonly lastDelta: unknown
  /** The choices as OpenAI's clients read them, where the vendor wrote something else. */
  readonly mended: readonly unknown[] | undefined
}

/** Reads the choices of a stream's chunks in order. */
export interface ChatChoices {
  /** Returns the failure that a choice reports, if one does. */
  read(choices: readonly unknown[]): ReadChoices | { readonly failure: GatewayError }
  /** Whether every choice that began has ended. Some vendors answer with fewer choices than asked for. */
  haveEnded(): boolean
}

export interface ReadingOptions {
  /** The vendor writes parts where OpenAI writes text. */
  readonly textContent: boolean
  /** The details that the vendor wants back become signed thoughts. */
  readonly sealsDetails: boolean
}

/** `awaited`: how many choices were asked for. */
export function chatChoices(awaited: number, { textContent, sealsDetails }: ReadingOptions): ChatChoices {
  const indexes = new Map<unknown, ReturnType<typeof callFragments>>()
  const details = new Map<unknown, ReturnType<typeof detailsReader>>()
  const begun = new Set<unknown>()
  const ended = new Set<unknown>()

  /** A delta as OpenAI's clients read it; the same where it is that already. */
  function asRead(index: unknown, delta: JsonRecord, ends: boolean): JsonRecord {
    const { tool_calls: calls } = delta
    let read = delta
    if (Array.isArray(calls)) {
      const indexed = indexes.get(index) ?? callFragments()
      indexes.set(index, indexed)
      const tool_calls = indexed(calls)
      if (tool_calls !== calls) read = { ...read, tool_calls }
    }
    if (sealsDetails) {
      const sealed = details.get(index) ?? detailsReader()
      details.set(index, sealed)
      read = sealed(read, ends)
    }
    return (textContent && withTextContent(read)) || read
  }

  /** Notes the end of a choice; returns whether all have ended. */
  function endsAll(index: unknown): boolean {
    return awaited === 1 || ended.add(index).size >= awaited
  }

  return {
    read(choices) {
      let characters = 0
      let commits = false
      let finished = false
      let lastDelta: unknown
      let mended: unknown[] | undefined
      for (const [position, choice] of choices.entries()) {
        if (typeof choice !== 'object' || choice === null) continue
        const { index, delta, finish_reason } = choice as { index?: unknown; delta?: unknown; finish_reason?: unknown }
        if (isFailedEnd(finish_reason)) return { failure: openaiEmbeddedFailure(asRecord(choice).error) }
        if (awaited > 1) begun.add(index)
        const content = contentOf(delta)
        characters += content.characters
        commits ||= content.calls
        lastDelta = delta
        // Some vendors write an empty one into every chunk.
        const ends = typeof finish_reason === 'string' && finish_reason !== ''
        const read = asRead(index, asRecord(delta), ends)
        const end = publicEnd(finish_reason)
        if (end !== finish_reason || (isRecord(delta) && read !== delta)) {
          mended ??= [...choices]
          mended[position] = { ...choice, ...(isRecord(delta) ? { delta: read } : {}), finish_reason: end }
        }
        if (ends) {
          commits = true
          if (endsAll(index)) finished = true
        }
      }
      return { characters, commits, finished, lastDelta, mended }
    },
    haveEnded: () => ended.size > 0 && ended.size === begun.size,
  }
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
