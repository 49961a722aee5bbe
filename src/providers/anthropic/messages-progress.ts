import { asRecord, asText, entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import { tokensOfCharacters, type Usage } from '../../modes/usage.ts'
import type { StreamStep } from '../provider.ts'
import { madeInBlock, madeInMessage, orNothing } from '../wire/made-ids.ts'
import { messagesEmbeddedFailure } from './messages-failure.ts'
import { messagesUsage } from './messages-usage.ts'

export type Progress = Omit<StreamStep, 'out' | 'chunk'>

/** Follows the events of one stream: what each means, in whatever shape it goes on. */
export function messagesProgress(): (event: JsonRecord) => Progress {
  let started: unknown
  let characters = 0

  const said = (length: number): Progress => {
    characters += length
    const usage = soFar(started, characters)
    return { characters: length, ...(usage ? { usage } : {}) }
  }
  const meanings: Readonly<Record<string, (event: JsonRecord) => Progress>> = {
    message_start: ({ message }) => {
      started = asRecord(message).usage
      return orNothing(madeInMessage(asRecord(message)))
    },
    content_block_start: ({ content_block: block }) => {
      const { type, text, name } = asRecord(block)
      if (type === 'text') return said(asText(text).length)
      if (type === 'thinking') return {}
      return { ...said(asText(name).length), commits: true, ...orNothing(madeInBlock(block)) }
    },
    content_block_delta: ({ delta }) => {
      const { text, thinking, partial_json } = asRecord(delta)
      return said(asText(text).length + asText(thinking).length + asText(partial_json).length)
    },
    message_delta: ({ delta, usage }) => {
      const reported = messagesUsage(started, usage)
      return {
        ...(reported ? { usage: reported } : {}),
        ...(typeof asRecord(delta).stop_reason === 'string' ? { commits: true, finished: true } : {}),
        ...orNothing(madeInMessage(asRecord(delta))),
      }
    },
    message_stop: () => ({ done: true }),
    error: ({ error }) => ({ failure: messagesEmbeddedFailure(error) }),
  }
  return (event) => entryOf(meanings, event.type)?.(event) ?? {}
}

/** What has been used when a stream is cut here: its input is known from the start, its output is counted. */
function soFar(started: unknown, characters: number): Usage | undefined {
  const usage = messagesUsage(started)
  if (!usage) return undefined
  const outputTokens = characters === 0 ? 0 : tokensOfCharacters(characters)
  // Which tools were used is told at the end.
  return { ...usage, outputTokens, toolUses: undefined, estimated: true }
}
