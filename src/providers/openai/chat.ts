import { includesAscii, latin1Text } from '../../lib/bytes/latin1.ts'
import { GatewayError } from '../../lib/errors.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { asList, asRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { type Adapter, dropper, type Outgoing, type Reply } from '../provider.ts'
import { refuseCloudObjects } from '../wire/cloud-objects.ts'
import { withAllowedTools } from '../wire/fitting/allowed-tools.ts'
import { withInstructionsFirst } from '../wire/fitting/instructions-first.ts'
import {
  documentAddress,
  hasCacheMarks,
  withCallsTogether,
  withDocumentUrls,
  withObjectArguments,
  withoutCacheMarks,
  withoutSilence,
  withTextResults,
} from '../wire/fitting/plain-conversation.ts'
import { withTextDocuments } from '../wire/fitting/text-documents.ts'
import { madeField, madeInChoices } from '../wire/made-ids.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { upstreamMetadata } from '../wire/upstream-metadata.ts'
import { usageAtEnd } from '../wire/usage-at-end.ts'
import type { AnswerQuirks } from './answers/answer-quirks.ts'
import { endsUnusually, endsUsually, withPublicEnds } from './answers/public-ends.ts'
import { withSealedDetails } from './answers/reasoning-details.ts'
import { withTextContents } from './answers/text-content.ts'
import { type ChatQuirks, OPENAI_QUIRKS } from './chat-quirks.ts'
import { openaiChatStream } from './chat-stream.ts'
import { isFailedEnd, openaiEmbeddedFailure, openaiFailure } from './failure.ts'
import { type ConversationQuirks, conversationFitting } from './fitting/conversation.ts'
import { definedSchemas } from './fitting/defined-schemas.ts'
import { effortIn, takenEffort } from './fitting/efforts.ts'
import { adaptedFields, withoutHints, withoutRefused } from './fitting/fields.ts'
import { takenFormat, withTakenFormat } from './fitting/formats.ts'
import { takenTools } from './fitting/functions.ts'
import { takenLimit } from './fitting/limit.ts'
import { refusedField, withTakenFields } from './fitting/refused-fields.ts'
import { strictFields } from './fitting/strict-fields.ts'
import { forcedCallFields } from './fitting/tool-choice.ts'
import { reportedError } from './read-error.ts'
import { openaiUsage, writtenForLong } from './usage.ts'

/** Chat with a vendor of OpenAI's shape: bytes are relayed both ways, the model is renamed and the usage read. */
export function openaiChatWith(
  quirks: ChatQuirks,
): Adapter<ChatRequest> & Required<Pick<Adapter<ChatRequest>, 'stream'>> {
  const { conversation, fields = {}, limit, efforts = {}, functions, toolChoice, formats, answers = {} } = quirks
  const { readsOwn, takes } = quirks
  const { usageUnasked, usageUnder } = answers
  const fitted = conversationFitting(conversation)
  return {
    ...(takes ? { takes } : {}),
    request(call, connection) {
      const { body, bytes, streamed, translated } = call
      if (readsOwn) refuseCloudObjects(body.messages, connection, readsOwn)
      const changes: Record<string, unknown> = {}
      if (body.model !== connection.model) changes.model = connection.model
      if (usageUnasked) {
        if (body.stream_options !== undefined) changes.stream_options = undefined
      } else if (streamed && body.stream_options?.include_usage !== true) {
        changes.stream_options = { ...body.stream_options, include_usage: true }
      }
      const drop = dropper(call)
      const called = toolChoice ? forcedCallFields(body, connection.baseModel, toolChoice, drop) : undefined
      const given = called ? { ...call, body: { ...body, ...called } } : call
      Object.assign(changes, called)
      if (translated) Object.assign(changes, plain(given, connection.baseModel, quirks))
      else {
        if (formats) Object.assign(changes, takenFormat(given.body, formats, drop))
        if (fields.unknownHints) Object.assign(changes, withoutHints(body, drop, fields.unknownHints))
        // Efforts in another vendor's words are none of its own.
        if (!efforts.own || call.clientNames)
          Object.assign(changes, takenEffort(given.body, connection.baseModel, efforts, drop))
        Object.assign(changes, withoutRefused(body, connection.baseModel, effortIn(changes, given.body), fields, drop))
      }
      const messages = fitted(body, changes.messages as ChatRequest['messages'] | undefined, drop)
      if (messages) changes.messages = messages
      if (functions) {
        const given = (changes.tools as ChatRequest['tools']) ?? body.tools
        const tools = takenTools(given, functions, drop)
        if (tools !== given) changes.tools = tools
      }
      if (quirks.definedSchemas) {
        const { tools = given.body.tools, response_format = given.body.response_format } = changes
        Object.assign(changes, definedSchemas(tools as ChatRequest['tools'], response_format))
      }
      if (body.metadata !== undefined) changes.metadata = upstreamMetadata(body)
      if (limit) Object.assign(changes, takenLimit(body, connection.baseModel, limit))
      if (fields.seed && body.seed != null) Object.assign(changes, { seed: undefined, [fields.seed]: body.seed })
      return {
        method: 'POST',
        origin: connection.origin,
        path: `${connection.basePath}/chat/completions`,
        headers: connection.headers,
        body: editJson(bytes, body, changes),
      }
    },

    reply(bytes, _headers, { body, translated }) {
      const seals = conversation?.reasoningDetails && translated && includesAscii(bytes, '"reasoning_details"')
      const reply = replyIn(seals ? withSealedDetails(bytes) : bytes, body, answers)
      return writesForLong(body) ? { ...reply, usage: writtenForLong(reply.usage) } : reply
    },

    stream: ({ body, translated }) =>
      openaiChatStream({
        hideUsage: body.stream_options?.include_usage !== true && asRecord(body.usage).include !== true,
        ...(typeof body.n === 'number' ? { choices: body.n } : {}),
        ...(usageUnder === undefined ? {} : { usageUnder }),
        ...(writesForLong(body) ? { writesForLong: true } : {}),
        ...(answers.parts ? { textContent: true } : {}),
        ...(conversation?.reasoningDetails && translated ? { sealsDetails: true } : {}),
      }),

    failure: openaiFailure,

    again: withTakenFields,
    refused: refusedField,
  }
}

/** Chat with OpenAI itself. */
export const openaiChat = openaiChatWith(OPENAI_QUIRKS)

/** A request in the words of chat, as a translation to chat would send it to a vendor. */
export function asTaken(call: Outgoing<ChatRequest>, model: string, quirks: ChatQuirks): ChatRequest {
  const { body } = call
  const changes = plain(call, model, quirks)
  const changed = changes.messages as ChatRequest['messages'] | undefined
  const messages = conversationFitting(quirks.conversation)(body, changed, dropper(call))
  return { ...body, ...changes, ...(messages ? { messages } : {}) }
}

/** The fields of a translated request without what only other dialects know. */
function plain(call: Outgoing<ChatRequest>, model: string, quirks: ChatQuirks): Record<string, unknown> {
  const { conversation = {}, formats = {}, toolChoice } = quirks
  const drop = dropper(call)
  const told = withTakenFormat(call.body, formats, drop)
  const allowed = toolChoice?.allowsTools ? told : withAllowedTools(told, "this vendor's chat")
  const changes = {
    ...(told === call.body ? {} : { response_format: told.response_format }),
    ...(allowed === told ? {} : { tools: allowed.tools, tool_choice: allowed.tool_choice }),
    ...strictFields(allowed, drop),
  }
  const body: ChatRequest = { ...allowed, ...changes }
  const { messages, tools } = body
  const adapted = { ...changes, ...adaptedFields(body, model, quirks, drop) }
  const withTexts = translatedMessages(messages, conversation)
  if (conversation.cacheMarks)
    return { ...adapted, ...(withTexts === call.body.messages ? {} : { messages: withTexts }) }
  if (hasCacheMarks(body)) drop('cache_control')
  return { ...adapted, messages: withoutCacheMarks(withTexts), ...(tools ? { tools: withoutCacheMarks(tools) } : {}) }
}

/** A translated conversation without what the vendor cannot read; the same list where nothing changes. */
function translatedMessages(messages: ChatRequest['messages'], quirks: ConversationQuirks): ChatRequest['messages'] {
  const { instructionsAnywhere, documentUrls, reasoning } = quirks
  const address = documentUrls ? undefined : documentAddress(messages)
  if (address) throw unsupported(address, "this vendor's chat, which fetches no documents", 'Send its bytes.')
  const withDocuments = withTextDocuments(messages)
  const ordered = instructionsAnywhere ? withDocuments : withInstructionsFirst(withDocuments)
  const spoken = withoutSilence(ordered, reasoning !== 'none')
  const withResults = withTextResults(withCallsTogether(withObjectArguments(spoken)))
  return documentUrls ? withDocumentUrls(withResults) : withResults
}

function replyIn(bytes: Uint8Array, body: ChatRequest, { parts }: AnswerQuirks): Reply {
  if (parts && includesAscii(bytes, '"thinking"')) return read(withTextContents(bytes))
  const usage = asksForAudio(body) ? undefined : usageAtEnd(bytes, 'choices')
  if (!usage || usage.outputTokens === 0 || !endsUsually(bytes)) return read(bytes)
  return { bytes, contentType: 'application/json', usage, outputCharacters: 0 }
}

/** Whether a request has what is written to the cache kept for twelve hours. */
function writesForLong({ prompt_cache_options: options }: ChatRequest): boolean {
  return options !== undefined && asRecord(options).ttl === '12h'
}

function read(bytes: Uint8Array): Reply {
  const body = parseRecord(latin1Text(bytes))
  if (!body) throw malformed()
  if (reportedError(body) !== undefined) throw openaiEmbeddedFailure(reportedError(asRecord(parseRecord(bytes))))
  if (!Array.isArray(body.choices) || body.choices.length === 0) throw malformed()
  const failed = body.choices.findIndex((choice) => isFailedEnd(asRecord(choice).finish_reason))
  if (failed !== -1) throw openaiEmbeddedFailure(asRecord(asList(parseRecord(bytes)?.choices)[failed]).error)
  const usage = openaiUsage(body.usage, body)
  return {
    bytes: body.choices.some(endsUnusually) ? withPublicEnds(bytes) : bytes,
    contentType: 'application/json',
    usage,
    outputCharacters: usage && usage.outputTokens > 0 ? 0 : charactersOf(body.choices),
    ...madeField(madeInChoices(body.choices, 'message')),
  }
}

/** Whether a request asks for audio, whose id later turns refer to. */
function asksForAudio({ audio }: ChatRequest): boolean {
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
