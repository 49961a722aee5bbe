import { asRecord, asText, entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import { tokensOfCharacters, type Usage } from '../../modes/usage.ts'
import type { StreamStep } from '../provider.ts'
import { madeField, madeInBlock, madeInMessage } from '../wire/made-ids.ts'
import { messagesEmbeddedFailure } from './messages-failure.ts'
import { messagesUsage } from './messages-usage.ts'

export type Progress = Omit<StreamStep, 'out' | 'chunk'>

/** Reads the events of one stream in order; returns the meaning of each, without its output. */
export function messagesProgress(threaded = false): (event: JsonRecord) => Progress {
  let started: unknown
  let characters = 0

  const generated = (length: number): Progress => {
    characters += length
    const usage = usageSoFar(started, characters)
    return { characters: length, ...(usage ? { usage } : {}) }
  }
  const meanings: Readonly<Record<string, (event: JsonRecord) => Progress>> = {
    message_start: ({ message }) => {
      started = asRecord(message).usage
      return madeField(madeInMessage(asRecord(message), threaded))
    },
    content_block_start: ({ content_block: block }) => {
      const { type, text, name } = asRecord(block)
      if (type === 'text') return generated(asText(text).length)
      if (type === 'thinking') return {}
      return { ...generated(asText(name).length), commits: true, ...madeField(madeInBlock(block)) }
    },
    content_block_delta: ({ delta }) => {
      const { text, thinking, partial_json } = asRecord(delta)
      return generated(asText(text).length + asText(thinking).length + asText(partial_json).length)
    },
    message_delta: ({ delta, usage }) => {
      const reported = messagesUsage(started, usage)
      return {
        ...(reported ? { usage: reported } : {}),
        ...(typeof asRecord(delta).stop_reason === 'string' ? { commits: true, finished: true } : {}),
        ...madeField(madeInMessage(asRecord(delta))),
      }
    },
    message_stop: () => ({ done: true }),
    error: ({ error }) => ({ failure: messagesEmbeddedFailure(error) }),
  }
  return (event) => entryOf(meanings, event.type)?.(event) ?? {}
}

/** The usage of a stream that is cut now: its input is known from the start, its output is estimated. */
function usageSoFar(started: unknown, characters: number): Usage | undefined {
  const usage = messagesUsage(started)
  if (!usage) return undefined
  const outputTokens = characters === 0 ? 0 : tokensOfCharacters(characters)
  // The tool uses are reported at the end.
  return { ...usage, outputTokens, toolUses: undefined, estimated: true }
}
