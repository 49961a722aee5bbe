import { camelCase } from '../../../lib/json/camel-case.ts'
import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ThinkingBlock } from '../../../modes/chat-completion.ts'
import { applyTable, type Drop } from '../../../modes/field-table.ts'
import { inexpressible } from '../inexpressible.ts'
import { asContent } from '../messages/content.ts'
import { PART_FIELDS } from './fields.ts'
import { filePart, inlinePart } from './media.ts'
import { openSignature } from './sealed-thinking.ts'

type Message = { readonly role: string; readonly [field: string]: unknown }

/** A call whose result has not come yet. */
interface OpenCall {
  readonly id: string
  readonly name: string
  /** The client gave it none. */
  readonly hasMadeId: boolean
}

interface Reading {
  readonly drop: Drop
  /** Some clients give calls no ids, even where their results have some: these belong to the oldest such call of their
   *  name. */
  open: OpenCall[]
}

/** A part of a turn, and its path in the request. */
type Placed = readonly [part: JsonRecord, at: string]

/** The conversation of a request as chat messages. The vendor's clients write each piece of a streamed answer down as a
 *  turn of its own: together they are one message. */
export function chatMessages(request: JsonRecord, drop: Drop): Message[] {
  const { systemInstruction, contents } = request
  const reading: Reading = { drop, open: [] }
  const instructions = instructionParts(systemInstruction, reading)
  const messages: Message[] = instructions.length > 0 ? [{ role: 'system', content: asContent(instructions) }] : []
  let answer: Placed[] = []
  const endAnswer = () => {
    if (answer.length > 0) messages.push(...modelTurn(answer, reading))
    answer = []
  }
  for (const [index, value] of asList(contents).entries()) {
    const { role, parts } = asRecord(value)
    const at = `contents.${index}.parts`
    const read = asList(parts).map(camelCase)
    if (role === 'model') {
      const pieces = read.map((part, place): Placed => [part, `${at}.${place}`])
      answer = goingOn(answer, pieces)
      continue
    }
    endAnswer()
    if (role === 'system') messages.push({ role, content: asContent(contentParts(read, at, reading)) })
    else messages.push(...userTurn(read, at, reading))
  }
  endAnswer()
  if (messages.length === 0) throw inexpressible('contents', "'contents' must hold at least one part.")
  return messages
}

function instructionParts(instruction: unknown, reading: Reading): JsonRecord[] {
  if (typeof instruction === 'string') return instruction === '' ? [] : [{ type: 'text', text: instruction }]
  const parts = asList(asRecord(instruction).parts).map(camelCase)
  return contentParts(parts, 'systemInstruction.parts', reading)
}

/** A turn that goes on with further pieces: a text may have been cut anywhere. */
function goingOn(before: readonly Placed[], pieces: readonly Placed[]): Placed[] {
  const last = before.at(-1)
  const [first, ...more] = pieces
  if (!last || !first || !isCut(last[0], first[0])) return [...before, ...pieces]
  const text = asText(last[0].text) + asText(first[0].text)
  return [...before.slice(0, -1), [{ ...first[0], text }, last[1]], ...more]
}

const isCut = (part: JsonRecord, next: JsonRecord) =>
  typeof part.text === 'string' &&
  typeof next.text === 'string' &&
  part.thought === next.thought &&
  part.thoughtSignature === undefined

function userTurn(parts: readonly JsonRecord[], at: string, reading: Reading): Message[] {
  const results: Message[] = []
  const others: (readonly [JsonRecord, number])[] = []
  for (const [index, part] of parts.entries()) {
    if (isRecord(part.functionResponse)) results.push(toolMessage(part, `${at}.${index}`, reading))
    else others.push([part, index])
  }
  const said = others.flatMap(([part, index]) => chatPart(part, `${at}.${index}`, reading))
  if (said.length > 0) return [...results, { role: 'user', content: asContent(said) }]
  return results.length > 0 ? results : [{ role: 'user', content: '' }]
}

function modelTurn(parts: readonly Placed[], reading: Reading): Message[] {
  const said: JsonRecord[] = []
  const calls: JsonRecord[] = []
  const open: OpenCall[] = []
  const blocks: ThinkingBlock[] = []
  let thoughts = ''
  for (const [part, at] of parts) {
    blocks.push(...openSignature(part.thoughtSignature))
    if (part.thought === true) thoughts += asText(part.text)
    else if (isRecord(part.functionCall)) {
      const call = toolCall(part, at, reading)
      calls.push(call)
      open.push({ id: call.id, name: call.function.name, hasMadeId: asText(part.functionCall.id) === '' })
    } else said.push(...chatPart(part, at, reading))
  }
  reading.open = open
  const signed = blocks.filter((block) => block.type !== 'thinking' || asText(block.signature) !== '')
  const unsigned = blocks.map((block) => (block.type === 'thinking' && !signed.includes(block) ? block.thinking : ''))
  const reasoning = blocks.length > 0 ? unsigned.join('') : thoughts
  if (said.length + calls.length === 0 && signed.length === 0) return []
  return [
    {
      role: 'assistant',
      content: said.length === 0 && calls.length > 0 ? null : asContent(said),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(signed.length > 0 ? { thinking_blocks: signed } : {}),
    },
  ]
}

/** A call without an id gets one of its place, so that it is the same in every turn. */
function toolCall({ functionCall, ...part }: JsonRecord, at: string, { drop }: Reading) {
  beside(part, drop, at)
  const { id, name, args } = asRecord(functionCall)
  if (args !== undefined && args !== null && !isRecord(args)) {
    throw inexpressible(`${at}.functionCall.args`, `'${at}.functionCall.args' must be an object.`)
  }
  return {
    id: asText(id) || `call_${at.replace(/\D+/g, '_').replace(/^_/, '')}`,
    type: 'function',
    function: { name: asText(name), arguments: JSON.stringify(asRecord(args)) },
  }
}

function toolMessage({ functionResponse, ...part }: JsonRecord, at: string, reading: Reading): Message {
  beside(part, reading.drop, at)
  const { id, name, response, parts } = camelCase(functionResponse)
  const given = asText(id)
  const called =
    reading.open.find((one) => (given === '' ? one.name === name : one.id === given)) ??
    reading.open.find((one) => one.hasMadeId && one.name === name)
  reading.open = reading.open.filter((one) => one !== called)
  const tool_call_id = called?.id ?? given
  if (tool_call_id === '') {
    throw inexpressible(`${at}.functionResponse`, `'${at}.functionResponse' answers no functionCall before it.`)
  }
  const media = asList(parts).flatMap((one, index) =>
    chatPart(camelCase(one), `${at}.functionResponse.parts.${index}`, reading),
  )
  const text = resultText(response)
  return { role: 'tool', tool_call_id, content: media.length > 0 ? [{ type: 'text', text }, ...media] : text }
}

/** The members in which clients put the one text of a result. */
const TEXTS = ['output', 'result', 'content'] as const

function resultText(response: unknown): string {
  if (typeof response === 'string') return response
  const record = asRecord(response)
  const [name = '', ...others] = Object.keys(record)
  const only = others.length === 0 && TEXTS.some((one) => one === name) ? record[name] : undefined
  return typeof only === 'string' ? only : JSON.stringify(record)
}

function contentParts(parts: readonly JsonRecord[], at: string, reading: Reading): JsonRecord[] {
  return parts.flatMap((part, index) => chatPart(part, `${at}.${index}`, reading))
}

/** What a part holds, as parts of a chat message: none where it holds nothing that chat has. */
function chatPart(part: JsonRecord, at: string, { drop }: Reading): JsonRecord[] {
  const {
    text,
    thought: _,
    thoughtSignature: _signature,
    inlineData,
    fileData,
    executableCode,
    codeExecutionResult,
    ...more
  } = part
  beside(more, drop, at)
  if (isRecord(inlineData)) return [inlinePart(inlineData, `${at}.inlineData`)]
  if (isRecord(fileData)) return [filePart(fileData, `${at}.fileData`)]
  const words = asText(text) || asText(asRecord(executableCode).code) || asText(asRecord(codeExecutionResult).output)
  return words === '' ? [] : [{ type: 'text', text: words }]
}

/** What stands in a part beside what it holds. */
function beside(more: JsonRecord, drop: Drop, at: string): void {
  applyTable(more, PART_FIELDS, {
    drop: (field) => drop(`contents.parts.${field}`),
    refuse(field) {
      if (field === 'thoughtSignature' || field === 'thought') return
      throw inexpressible(`${at}.${field}`, `'${at}.${field}': only a provider of this dialect knows it.`)
    },
  })
}
