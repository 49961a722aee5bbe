import { base64Bytes, base64Text } from '../../../lib/bytes/base64.ts'
import { asList, asRecord, asText, entryOf, isRecord, type JsonRecord, parseRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { ThinkingBlock } from '../../../modes/chat-completion.ts'

type Messages = ChatRequest['messages']

/** The prefix of OpenRouter's reasoning in `thinking_blocks`: each vendor refuses that of others. */
const PREFIX = 'openrouter:'

/** The member of a detail whose pieces come one after the other in a stream. */
const PIECES: Readonly<Record<string, string>> = { 'reasoning.text': 'text', 'reasoning.summary': 'summary' }

/** What only its model can have written: it has to come back, and other dialects have no place for it but a signed thought. */
export const isSealed = ({ type, signature }: JsonRecord) => type === 'reasoning.encrypted' || asText(signature) !== ''

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function sealedBlock(details: readonly JsonRecord[], thinking: string): ThinkingBlock {
  return { type: 'thinking', thinking, signature: PREFIX + base64Text(encoder.encode(JSON.stringify({ details }))) }
}

/** Reads the deltas of a streamed choice: details that have to come back become a signed thought, before what follows them
 *  or at the end. Their text has been streamed before. */
export function detailsReader(): (delta: JsonRecord, ends: boolean) => JsonRecord {
  let details: JsonRecord[] = []
  return (delta, ends) => {
    for (const detail of asList(delta.reasoning_details).filter(isRecord)) joinDetail(details, detail)
    const goesOn = asText(delta.content) !== '' || asList(delta.tool_calls).length > 0
    if (!(goesOn || ends) || !details.some(isSealed)) return delta
    const block = sealedBlock(details, '')
    details = []
    return { ...delta, thinking_blocks: [block] }
  }
}

/** Adds the next piece of a stream's details: those of one text become one. */
export function joinDetail(details: JsonRecord[], next: JsonRecord): void {
  const last = details.at(-1)
  const text = entryOf(PIECES, next.type)
  if (!last || text === undefined || last.type !== next.type || last.index !== next.index) {
    details.push(next)
    return
  }
  const told = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== null))
  details[details.length - 1] = { ...last, ...told, [text]: asText(last[text]) + asText(next[text]) }
}

/** A whole answer whose details that have to come back are signed thoughts. */
export function withSealedDetails(bytes: Uint8Array): Uint8Array {
  const answer = parseRecord(bytes)
  const choices = asList(answer?.choices).map((value) => {
    const choice = asRecord(value)
    const message = asRecord(choice.message)
    const details = asList(message.reasoning_details).filter(isRecord)
    if (!details.some(isSealed)) return value
    return { ...choice, message: { ...message, thinking_blocks: [sealedBlock(details, asText(message.reasoning))] } }
  })
  return answer ? encoder.encode(JSON.stringify({ ...answer, choices })) : bytes
}

/** Messages with the details that were signed thoughts on their way; the same list where there are none. */
export function withDetails(messages: Messages): Messages {
  if (!messages.some((message) => detailsIn(message).length > 0)) return messages
  return messages.map((message) => {
    const details = detailsIn(message)
    if (details.length === 0) return message
    // The details have the texts, too.
    const { thinking_blocks: _blocks, reasoning_content: _text, reasoning: _same, ...rest } = message
    return { ...rest, reasoning_details: details }
  })
}

function detailsIn({ thinking_blocks }: JsonRecord): unknown[] {
  return asList(thinking_blocks).flatMap((block) => {
    const signature = asText(asRecord(block).signature)
    if (!signature.startsWith(PREFIX)) return []
    return asList(parseRecord(decoder.decode(base64Bytes(signature.slice(PREFIX.length))))?.details)
  })
}
