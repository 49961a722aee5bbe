import type { ChatRequest } from '../../modes/chat.ts'
import { responsesReply } from '../openai/by-responses/reply.ts'
import { responsesChunks } from '../openai/by-responses/stream.ts'
import { asTaken } from '../openai/chat.ts'
import type { ChatQuirks } from '../openai/chat-quirks.ts'
import { openaiFailure } from '../openai/failure.ts'
import { type Adapter, dropper } from '../provider.ts'
import { agentRequest } from './agent-request.ts'

const QUIRKS: ChatQuirks = {
  conversation: {
    reasoning: 'none',
    strictCalls: true,
    instructionsAnywhere: true,
    refusesSilence: true,
    nameless: true,
  },
  fields: { refuses: ['top_k'] },
  efforts: { taken: [[/^/, ['minimal', 'low', 'medium', 'high', 'xhigh']]] },
  formats: { schemasAlone: true },
}

/** It makes no reasoning that could be sent back. */
const NO_READER = ''

/** Chat with Perplexity, which has none of its own: its agents are asked in the words of Responses. */
export const perplexityChat: Adapter<ChatRequest> = {
  request(call, connection) {
    const { model, origin, basePath, headers } = connection
    const asked = agentRequest(asTaken(call, model, QUIRKS), model, dropper(call))
    return {
      method: 'POST',
      origin,
      path: `${basePath}/responses`,
      headers,
      body: JSON.stringify({ ...asked, ...(call.streamed ? { stream: true } : {}) }),
    }
  },
  reply: (bytes) => responsesReply(bytes, NO_READER),
  stream: () => responsesChunks(NO_READER),
  failure: openaiFailure,
}
