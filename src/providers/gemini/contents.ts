import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, asText, entryOf, isRecord, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import { toldArguments } from '../wire/call-arguments.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { GEMINI } from './api-name.ts'
import { generationOf } from './generation-of.ts'
import { type Part, partOf } from './media-part.ts'
import { signatureOfBlocks, signatureOfCall, WITHOUT_SIGNATURE } from './thought-signature.ts'

interface Content {
  readonly role: 'user' | 'model'
  readonly parts: Part[]
}

export interface Conversation {
  readonly contents: Content[]
  readonly systemInstruction?: { readonly parts: readonly Part[] }
}

interface Reading {
  readonly system: Part[]
  readonly contents: Content[]
  /** The names of called functions by the id of the call; results have to repeat them. */
  readonly names: Map<string, string>
  /** Models since the third generation know ids and require signatures. */
  readonly withIds: boolean
  /** The content that collects the results of one turn's calls. */
  results: Content | undefined
}

/** Translates a conversation to Gemini's contents: instructions are separate, tool results carry the names of their
 *  functions, and signatures return to their parts. */
export function conversationOf(messages: readonly JsonRecord[], model: string): Conversation {
  const reading: Reading = {
    system: [],
    contents: [],
    names: new Map(),
    withIds: (generationOf(model) ?? 0) >= 3,
    results: undefined,
  }
  for (const [index, message] of messages.entries()) {
    const read = entryOf(ROLES, message.role)
    if (!read) throw unsupported(`messages.${index}.role`, GEMINI)
    read(reading, message, `messages.${index}`)
    if (message.role !== 'tool') reading.results = undefined
  }
  const { system, contents } = reading
  return { contents, ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}) }
}

const ROLES: Readonly<Record<string, (reading: Reading, message: JsonRecord, at: string) => void>> = {
  system: readInstruction,
  developer: readInstruction,
  user(reading, message, at) {
    reading.contents.push({ role: 'user', parts: partsOf(message.content, at) })
  },
  assistant: readAnswer,
  tool: readResult,
}

function readInstruction(reading: Reading, message: JsonRecord, at: string): void {
  const parts = partsOf(message.content, at)
  const other = parts.findIndex((part) => part.text === undefined)
  if (other !== -1) throw unsupported(`${at}.content.${other}`, GEMINI, 'Instructions are text.')
  reading.system.push(...parts)
}

function readAnswer(reading: Reading, message: JsonRecord, at: string): void {
  for (const field of ['audio', 'function_call'] as const) {
    if (message[field]) throw unsupported(`${at}.${field}`, GEMINI, 'Send the text, or tool_calls.')
  }
  // Next to tool calls the content is usually empty, and Gemini refuses empty text.
  const parts = partsOf(message.content ?? message.refusal ?? '', at).filter((part) => part.text !== '')
  const signature = signatureOfBlocks(message)
  const calls = asList(message.tool_calls).map((call, index) =>
    callPart(reading, asRecord(call), `${at}.tool_calls.${index}`),
  )
  const [first] = calls
  if (first) {
    // Only the first of parallel calls is signed.
    const own = signature ?? (reading.withIds ? WITHOUT_SIGNATURE : undefined)
    if (own !== undefined && first.thoughtSignature === undefined) calls[0] = { ...first, thoughtSignature: own }
  } else if (signature !== undefined && parts.length > 0) {
    parts.push({ ...parts.pop(), thoughtSignature: signature })
  }
  const last = reading.contents.at(-1)
  if (parts.length + calls.length === 0) {
    // Streams sign words behind them, which some clients send back as a turn of its own.
    const words = last?.role === 'model' && last.parts.at(-1)
    if (words && signature !== undefined) last.parts[last.parts.length - 1] = { thoughtSignature: signature, ...words }
    return
  }
  // Calls have to come right behind a turn of the user.
  if (last?.role === 'model') last.parts.push(...parts, ...calls)
  else reading.contents.push({ role: 'model', parts: [...parts, ...calls] })
}

function callPart(reading: Reading, call: JsonRecord, at: string): Part {
  if (!isRecord(call.function)) throw unsupported(at, GEMINI, 'Send calls of type function.')
  const name = asText(call.function.name)
  const id = asText(call.id)
  reading.names.set(id, name)
  const args = toldArguments(call.function.arguments)
  const signature = signatureOfCall(call)
  return {
    functionCall: { ...(reading.withIds && id !== '' ? { id } : {}), name, args },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  }
}

function readResult(reading: Reading, message: JsonRecord, at: string): void {
  const id = asText(message.tool_call_id)
  const name = reading.names.get(id) ?? asText(message.name)
  if (name === '') {
    const param = `${at}.tool_call_id`
    throw new GatewayError('invalid_request', `'${param}' answers no tool call of an earlier message.`, { param })
  }
  const parts = partsOf(message.content, at)
  const text = parts.map((part) => asText(part.text)).join('')
  const media = parts.filter((part) => part.text === undefined)
  const functionResponse = {
    ...(reading.withIds && id !== '' ? { id } : {}),
    name,
    response: parseRecord(text) ?? { output: text },
    // Earlier generations take pictures beside results alone.
    ...(media.length > 0 && reading.withIds ? { parts: media } : {}),
  }
  if (!reading.results) {
    reading.results = { role: 'user', parts: [] }
    reading.contents.push(reading.results)
  }
  reading.results.parts.push({ functionResponse })
  if (!reading.withIds) reading.results.parts.push(...media)
}

function partsOf(content: unknown, at: string): Part[] {
  if (typeof content === 'string') return [{ text: content }]
  return asList(content).map((part, index) => partOf(part, `${at}.content.${index}`))
}
