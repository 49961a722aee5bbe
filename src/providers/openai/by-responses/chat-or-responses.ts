import type { JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Adapter, Connection, Outgoing } from '../../provider.ts'
import { asTaken, openaiChat } from '../chat.ts'
import { type ChatQuirks, OPENAI_QUIRKS } from '../chat-quirks.ts'
import { readerOf } from './own-reasoning.ts'
import { isResponse, responsesReply } from './reply.ts'
import { responsesRequest } from './request.ts'
import { eitherStream } from './stream.ts'

/** Models that take no functions in chat. */
const NO_FUNCTIONS = /(^|:)gpt-(6-astra|6\.\d+-(astra|sol))/

/** The vendors' own addresses, those of Azure for governments and in China among them: a server of the same shape at another
 *  one may know chat alone. */
const OWN_HOST = /(^|\.)(openai\.com|azure\.(com|us|cn))$/

const { plainWithTools, toldNotToReason: _told, ...efforts } = OPENAI_QUIRKS.efforts
const { reasoning: _reasoning, ...conversation } = OPENAI_QUIRKS.conversation
/** Models reason beside functions in Responses, as much as they are asked to, and go on from what they have thought. */
const REASONING: ChatQuirks = { ...OPENAI_QUIRKS, efforts, conversation }

/** Chat with OpenAI and Azure. Models that do not reason beside functions in chat, or take none there, are asked in the words
 *  of Responses, and their answers are read as chat. Chat of clients is relayed as it is wherever the model takes it. */
export function chatOrResponses(connection: Connection): Adapter<ChatRequest> {
  const reader = readerOf(connection)
  return {
    ...openaiChat,
    request(call, connection) {
      const asked = responsesOf(call, connection, reader)
      if (!asked) return openaiChat.request(call, connection)
      return {
        method: 'POST',
        origin: connection.origin,
        path: `${connection.basePath}/responses`,
        headers: connection.headers,
        body: JSON.stringify(asked),
      }
    },
    reply(bytes, headers, call) {
      const isAnswered = hasTools(call) && isResponse(bytes)
      return isAnswered ? responsesReply(bytes, reader) : openaiChat.reply(bytes, headers, call)
    },
    stream(call, headers) {
      const chat = () => openaiChat.stream(call, headers)
      return hasTools(call) ? eitherStream(chat, reader) : chat()
    },
  }
}

const hasTools = ({ body }: Outgoing<ChatRequest>) => (body.tools?.length ?? 0) > 0

function responsesOf(
  call: Outgoing<ChatRequest>,
  { model, baseModel, origin }: Connection,
  reader: string,
): JsonRecord | undefined {
  const models = call.translated ? plainWithTools : NO_FUNCTIONS
  if (!hasTools(call) || !models.test(baseModel) || !OWN_HOST.test(new URL(origin).hostname)) return undefined
  return responsesRequest(asTaken(call, baseModel, REASONING), { model, streamed: call.streamed, reader })
}
