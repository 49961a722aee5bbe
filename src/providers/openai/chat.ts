import { GatewayError } from '../../lib/errors.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { asList, asRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Adapter, Reply } from '../provider.ts'
import { refuseCloudObjects } from '../wire/cloud-objects.ts'
import { madeInChoices, orNothing } from '../wire/made-ids.ts'
import { withoutCacheMarks, withTextResults } from '../wire/plain-conversation.ts'
import { type ReasoningField, withReasoning } from '../wire/reasoning-history.ts'
import { upstreamMetadata } from '../wire/upstream-metadata.ts'
import { usageAtEnd } from '../wire/usage-at-end.ts'
import { openaiChatStream } from './chat-stream.ts'
import { openaiEmbeddedFailure, openaiFailure } from './failure.ts'
import { openaiUsage } from './usage.ts'

const latin1 = new TextDecoder('latin1')

/** Where a vendor's chat differs from OpenAI's. */
export interface ChatQuirks {
  /** Its one name for the limit of output tokens; absent where it knows both. */
  readonly maxTokens?: 'max_tokens' | 'max_completion_tokens'
  /** It refuses `stream_options`, and tells the usage without being asked. */
  readonly streamOptions?: false
  /** The only field of a message in which it takes thoughts of earlier turns; absent where it takes what it is sent. */
  readonly reasoning?: ReasoningField
  /** Addresses of what it reads with the account's credentials. */
  readonly readsOwn?: RegExp
  /** It has no such field, and its own clients know that: only what comes from another dialect is looked through. */
  readonly refusesReasoning?: true
  /** It takes marks of what to cache, as they come from the Messages API. */
  readonly cacheMarks?: true
  /** The member of a chunk that the usage is in, where it is not the chunk itself. */
  readonly usageUnder?: string
}

/** Chat for everyone who speaks OpenAI's shape: bytes are relayed both ways, with the model renamed and usage read. */
export function openaiChatWith(quirks: ChatQuirks): Adapter<ChatRequest> {
  const { streamOptions, usageUnder, refusesReasoning, readsOwn } = quirks
  return {
    request({ body, bytes, streamed, translated }, connection) {
      if (readsOwn) refuseCloudObjects(body.messages, connection, readsOwn)
      const reasoning = refusesReasoning && translated ? 'none' : quirks.reasoning
      const changes: Record<string, unknown> = {}
      if (body.model !== connection.model) changes.model = connection.model
      if (streamOptions === false) {
        if (body.stream_options !== undefined) changes.stream_options = undefined
      } else if (streamed && body.stream_options?.include_usage !== true) {
        changes.stream_options = { ...body.stream_options, include_usage: true }
      }
      if (translated) Object.assign(changes, plain(body, quirks))
      if (reasoning) {
        const told = (changes.messages ?? body.messages) as ChatRequest['messages']
        const messages = withReasoning(told, reasoning)
        if (messages !== told) changes.messages = messages
      }
      if (body.metadata !== undefined) changes.metadata = upstreamMetadata(body)
      Object.assign(changes, limitRenamed(body, quirks.maxTokens))
      return {
        method: 'POST',
        origin: connection.origin,
        path: `${connection.basePath}/chat/completions`,
        headers: connection.headers,
        body: editJson(bytes, body, changes),
      }
    },

    reply(bytes, _headers, { body }) {
      const usage = speaks(body) ? undefined : usageAtEnd(bytes, 'choices')
      return usage ? { bytes, contentType: 'application/json', usage, outputCharacters: 0 } : read(bytes)
    },

    stream: ({ body }) =>
      openaiChatStream({
        hideUsage: body.stream_options?.include_usage !== true,
        ...(typeof body.n === 'number' ? { choices: body.n } : {}),
        ...(usageUnder === undefined ? {} : { usageUnder }),
      }),

    failure: openaiFailure,
  }
}

/** Chat with OpenAI itself. */
export const openaiChat = openaiChatWith({ refusesReasoning: true })

/** What came from another dialect, without what only others take. */
function plain({ messages, tools }: ChatRequest, { cacheMarks }: ChatQuirks): Record<string, unknown> {
  const told = withTextResults(messages)
  if (cacheMarks) return told === messages ? {} : { messages: told }
  return { messages: withoutCacheMarks(told), ...(tools ? { tools: withoutCacheMarks(tools) } : {}) }
}

/** The limit of output tokens under the vendor's name for it. A client that sent both gets the vendor's own answer. */
function limitRenamed(body: ChatRequest, known: ChatQuirks['maxTokens']): Record<string, unknown> {
  if (known === undefined) return {}
  const other = known === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  if (body[other] === undefined || (body[other] !== null && body[known] != null)) return {}
  return { [other]: undefined, ...(body[other] === null ? {} : { [known]: body[other] }) }
}

function read(bytes: Uint8Array): Reply {
  const body = parseRecord(latin1.decode(bytes))
  if (!body) throw malformed()
  if (body.error !== undefined && body.error !== null) throw openaiEmbeddedFailure(parseRecord(bytes)?.error)
  if (!Array.isArray(body.choices) || body.choices.length === 0) throw malformed()
  // Mistral and OpenRouter tell so that the model failed on the way.
  const failed = body.choices.findIndex((choice) => asRecord(choice).finish_reason === 'error')
  if (failed !== -1) throw openaiEmbeddedFailure(asRecord(asList(parseRecord(bytes)?.choices)[failed]).error)
  const usage = openaiUsage(body.usage, body)
  return {
    bytes,
    contentType: 'application/json',
    usage,
    outputCharacters: usage ? 0 : charactersOf(body.choices),
    ...orNothing(madeInChoices(body.choices, 'message')),
  }
}

/** Whether what it asks for is said aloud, under an id that later turns name. */
function speaks({ audio }: ChatRequest): boolean {
  return audio !== undefined && audio !== null
}

function charactersOf(choices: readonly unknown[]): number {
  return choices.reduce<number>((sum, choice) => {
    const message = (choice as { message?: { content?: unknown; tool_calls?: unknown } } | null)?.message
    const content = typeof message?.content === 'string' ? message.content.length : 0
    return sum + content + (message?.tool_calls ? JSON.stringify(message.tool_calls).length : 0)
  }, 0)
}

function malformed(): GatewayError {
  return new GatewayError('upstream_malformed', "The provider's answer is not a chat completion.")
}
