import { type ChatRequest, chatRequest } from '../../modes/chat.ts'
import type { ChatChunk } from '../../modes/chat-completion.ts'
import { asDialect } from '../../pipeline/translate/dialect.ts'
import { chatErrorEvent } from '../failures.ts'
import { chatIds } from './chat-ids.ts'
import { prependToChat } from './prepend.ts'
import { chatConversation } from './tools/chat-conversation.ts'

const encoder = new TextEncoder()
const NOTHING = new Uint8Array()

const event = (data: unknown) => encoder.encode(`data: ${JSON.stringify(data)}\n\n`)

/** Chat, the pivot of all dialects: chunks are written unchanged, and the usage only for a client that asked. */
export const chatDialect = asDialect<ChatRequest>({
  native: 'chat',
  schema: chatRequest,
  exactMembers: new Set(['parameters', 'schema']),
  ids: chatIds,
  prepend: prependToChat,
  toChat: (request) => request,
  // Descriptions of an answer require the members that are null: OpenAI's those of a choice, OpenRouter's the fingerprint.
  fromChat: (completion) => ({
    system_fingerprint: null,
    ...completion,
    choices: completion.choices.map(({ message, ...choice }) => ({
      logprobs: null,
      ...choice,
      message: { refusal: null, ...message },
    })),
  }),
  stream(request) {
    const showUsage = request.stream_options?.include_usage === true
    return {
      write(chunk: ChatChunk) {
        if (chunk.choices.length === 0 && !showUsage) return NOTHING
        if (showUsage || chunk.usage === undefined) return event(chunk)
        const { usage: _, ...shown } = chunk
        return event(shown)
      },
      close: () => encoder.encode('data: [DONE]\n\n'),
    }
  },
  tools: chatConversation,
  errorEvent: chatErrorEvent,
})
