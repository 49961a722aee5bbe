import { matchesBehind, wordsIn } from '../../../lib/json/lazy-json.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { basicConversation } from '../../wire/fitting/basic-conversation.ts'
import { ADDRESS_ALONE, withImageObjects } from '../../wire/fitting/image-addresses.ts'
import { FOREIGN_MEMBERS, withPlainCalls, withPlainParts, withPlainRefusals } from '../../wire/fitting/plain-answers.ts'
import { withDocumentUrls, withoutSilence, withResultsAnswered } from '../../wire/fitting/plain-conversation.ts'
import { withMarkedPrefill } from '../../wire/fitting/prefill.ts'
import { REASONING_FIELDS, type ReasoningField, withReasoning } from '../../wire/fitting/reasoning-history.ts'
import { withStringContents } from '../../wire/fitting/string-contents.ts'
import { withTextDocuments } from '../../wire/fitting/text-documents.ts'
import { withDetails } from '../answers/reasoning-details.ts'

type Messages = ChatRequest['messages']
type Message = Messages[number]

/** Where the conversations that a vendor takes differ from OpenAI's. */
export interface ConversationQuirks {
  /** The only field in which it accepts the reasoning of earlier turns; absent if it accepts any. */
  readonly reasoning?: ReasoningField
  /** It refuses earlier answers without the field of their reasoning: what it takes in the place of none. */
  readonly noReasoning?: string
  /** Its answers have `reasoning_details`, which it wants back. */
  readonly reasoningDetails?: true
  /** It accepts the cache marks of the Messages API, on functions, too. */
  readonly cacheMarks?: true
  /** It refuses what only other vendors know of an answer and its calls. */
  readonly strictCalls?: true
  /** It refuses what OpenAI's answers have beside text and calls, and what clients copy of it into parts. */
  readonly strictAnswers?: true
  /** The longest id of a call that it takes, where requests in chat may have longer ones. */
  readonly longestCallId?: number
  /** It takes instructions anywhere in a conversation. Templates of open models take one message, at the beginning. Only
   *  translated requests are searched for others. */
  readonly instructionsAnywhere?: true
  /** It takes refusals of earlier turns as such. To others they are text. */
  readonly takesRefusals?: true
  /** It wants an answer between the result of a tool and the user's next words, and refuses answers that say nothing. */
  readonly answersResults?: true
  /** It refuses answers that say nothing, even where they have reasoning. */
  readonly refusesSilence?: true
  /** It takes text as a string alone, and wants one in every message. */
  readonly stringContents?: true
  /** It refuses to go on with the words that a conversation ends with, unless they are marked. */
  readonly marksPrefill?: true
  /** It knows no names of participants. */
  readonly nameless?: true
  /** It reads documents as `document_url`, and fetches them. */
  readonly documentUrls?: true
}

/** Fits a conversation to a vendor's quirks. `changed` is the conversation if it was changed before. Returns undefined if
 *  it is sent as it came: a long one is then searched on its bytes, if at all, and never built. */
export function conversationFitting(
  quirks: ConversationQuirks = {},
): (body: ChatRequest, changed: Messages | undefined, drop: Drop) => Messages | undefined {
  const words = wordsThatChange(quirks)
  const { answersResults, marksPrefill, refusesSilence, stringContents, longestCallId } = quirks
  const isOrdered = answersResults || marksPrefill
  const longId = longestCallId === undefined ? undefined : new RegExp(`^\\s*:\\s*"[^"]{${longestCallId + 1}}`)
  const isAmong = (body: ChatRequest, names: readonly string[], pattern: RegExp) =>
    names.some((name) => matchesBehind(body, 'messages', name, pattern) !== false)
  const mayChange = (body: ChatRequest) =>
    (words.size > 0 && wordsIn(body, 'messages', words)?.size !== 0) ||
    (longId !== undefined && isAmong(body, IDS, longId)) ||
    isAmong(body, IMAGE, ADDRESS_ALONE) ||
    (refusesSilence === true && isAmong(body, WORDS, NOTHING)) ||
    (stringContents === true && (isAmong(body, CONTENT, NO_STRING) || isAmong(body, ROLE, NO_CONTENT)))
  return (body, changed, drop) => {
    if (!changed && !isOrdered && !mayChange(body)) return
    const messages = changed ?? body.messages
    const fitting = fitted(messages, quirks, drop)
    return fitting === body.messages ? undefined : fitting
  }
}

/** The names of members and roles without which a conversation fits. */
function wordsThatChange({
  reasoning,
  noReasoning,
  reasoningDetails,
  instructionsAnywhere,
  strictAnswers,
  strictCalls,
  documentUrls,
  nameless,
  takesRefusals,
}: ConversationQuirks): ReadonlySet<string> {
  return new Set([
    ...(reasoning ? REASONING_FIELDS.filter((field) => field !== reasoning) : []),
    ...(noReasoning === undefined ? [] : [ASSISTANT]),
    ...(reasoningDetails ? [BLOCKS] : []),
    ...(instructionsAnywhere ? [] : [DEVELOPER]),
    ...(takesRefusals ? [] : [REFUSAL]),
    ...(strictAnswers ? [...OF_ANSWERS, PARTS] : []),
    ...(documentUrls ? [FILE] : []),
    ...(nameless ? [NAME] : []),
    ...(strictCalls ? FOREIGN_MEMBERS : []),
  ])
}

/** The same list where nothing changes. */
function fitted(
  messages: Messages,
  {
    reasoning,
    noReasoning,
    reasoningDetails,
    refusesSilence,
    instructionsAnywhere,
    strictAnswers,
    strictCalls,
    longestCallId,
    documentUrls,
    nameless,
    answersResults,
    marksPrefill,
    stringContents,
    takesRefusals,
  }: ConversationQuirks,
  drop: Drop,
): Messages {
  let fitting = reasoning ? withReasoning(messages, reasoning) : messages
  if (reasoningDetails) fitting = withDetails(fitting)
  if (!takesRefusals) fitting = withPlainRefusals(fitting)
  // A last answer that is marked so is a beginning, to be gone on with.
  if (refusesSilence && fitting.at(-1)?.partial !== true) fitting = withoutSilence(fitting, false)
  if (noReasoning !== undefined) fitting = withSomeReasoning(fitting, noReasoning)
  if (!instructionsAnywhere && fitting.some(isOfDeveloper)) fitting = fitting.map(asSystem)
  if (strictAnswers && fitting.some(hasAnswerFields)) fitting = fitting.map(withoutAnswerFields)
  if (strictAnswers) fitting = withPlainParts(fitting)
  fitting = withImageObjects(fitting)
  if (documentUrls) fitting = withDocumentUrls(withTextDocuments(fitting))
  if (nameless) fitting = basicConversation(fitting, drop, true)
  if (strictCalls) fitting = withPlainCalls(fitting, longestCallId)
  if (answersResults) fitting = withResultsAnswered(withoutSilence(fitting, reasoning !== 'none'))
  if (stringContents) fitting = withStringContents(fitting)
  return marksPrefill ? withMarkedPrefill(fitting) : fitting
}

const ASSISTANT = 'assistant'
const BLOCKS = 'thinking_blocks'
/** As an answer of other vendors' models, or of a client that keeps no reasoning, is taken. */
function withSomeReasoning(messages: Messages, none: string): Messages {
  const lacks = ({ role, reasoning_content: thought }: Message) =>
    role === ASSISTANT && (typeof thought !== 'string' || thought.length < none.length)
  if (!messages.some(lacks)) return messages
  return messages.map((message) => (lacks(message) ? { ...message, reasoning_content: none } : message))
}

/** The ids of calls, and of what their results name. */
const IDS = ['id', 'tool_call_id']

/** Where words of a message stand, and what stands there where it has none. */
const WORDS = ['content', 'text']
const NOTHING = /^\s*:\s*(""|null|\[\s*\])/

/** What stands where a vendor wants a text, and a call where it wants one before. */
const CONTENT = ['content']
const NO_STRING = /^\s*:\s*[^\s"]/
const ROLE = ['role']
const NO_CONTENT = /^\s*:\s*"assistant"\s*(,\s*"tool_calls"|})/

/** OpenAI's newer name of the system. Other vendors do not know it. */
const DEVELOPER = 'developer'
const isOfDeveloper = ({ role }: Message) => role === DEVELOPER
const asSystem = (message: Message): Message => (isOfDeveloper(message) ? { ...message, role: 'system' } : message)

/** What content has that is a list of parts, and which of them are files or images. */
const PARTS = 'text'
const IMAGE = ['image_url']
const FILE = 'file'
const NAME = 'name'
const REFUSAL = 'refusal'

/** What OpenAI's clients have in every answer, and send back as it is. */
const OF_ANSWERS = ['refusal', 'audio', 'function_call', 'annotations']
const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0)
/** What an answer cites is of no use in the next request. */
const isLeftOut = (field: string, value: unknown) =>
  OF_ANSWERS.includes(field) && (isEmpty(value) || field === 'annotations')
const hasAnswerFields = (message: Message) => Object.keys(message).some((field) => isLeftOut(field, message[field]))

const withoutAnswerFields = (message: Message): Message =>
  Object.fromEntries(Object.entries(message).filter(([field, value]) => !isLeftOut(field, value))) as Message
