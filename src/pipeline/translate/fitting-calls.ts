import { joinBytes } from '../../lib/bytes/bytes.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { wordsIn } from '../../lib/json/lazy-json.ts'
import { asRecord, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatChunk, ChatCompletion } from '../../modes/chat-completion.ts'
import { EVERYWHERE, madeName } from '../../modes/function-name.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Adapter, Outgoing, StreamStep, Takes } from '../../providers/provider.ts'
import { fittingId } from '../../providers/wire/fitting/fitting-id.ts'
import { asChunks, asCompletion } from './chat-bytes.ts'

/** What every vendor of chat takes: requests from clients of other dialects are held to it. */
export const COMMON: Takes = { functions: EVERYWHERE, calls: { fits: /^[\w.:-]{1,40}$/, length: 32 } }

interface Fitted {
  readonly call: Outgoing
  /** The client's names of functions, by the names that replace them. */
  readonly names: ReadonlyMap<string, string>
}

/** An adapter of chat that is only given names of functions and ids of calls that its vendor takes. Others are
 *  replaced, equal ones by equal ones, and the answer gets the client's names back. `otherwise`: the rules where the
 *  vendor has none of its own. */
export function fitted(adapter: Adapter, otherwise?: Takes): Adapter {
  const takes = adapter.takes || otherwise ? { ...otherwise, ...adapter.takes } : undefined
  if (!takes) return adapter
  const known = new WeakMap<ModelRequest, Fitted>()
  const fittedOnce = (call: Outgoing): Fitted => {
    let found = known.get(call.body)
    if (!found) {
      found = fittedCall(call, takes)
      known.set(call.body, found)
    }
    return found
  }
  const { stream } = adapter
  return {
    ...adapter,
    request: (call, connection) => adapter.request(fittedOnce(call).call, connection),
    reply(bytes, headers, given) {
      const { call, names } = fittedOnce(given)
      const reply = adapter.reply(bytes, headers, call)
      if (names.size === 0) return reply
      const read = asCompletion(reply)
      return read.completion ? { ...read, completion: withNames(read.completion, names) } : read
    },
    ...(stream
      ? {
          stream(given, headers) {
            const { call, names } = fittedOnce(given)
            const reader = stream(call, headers)
            if (names.size === 0) return reader
            const named = (step: StreamStep) => (step.chunk ? { ...step, chunk: withNames(step.chunk, names) } : step)
            return { ...reader, push: (piece) => reader.push(piece).flatMap(asChunks).map(named) }
          },
        }
      : {}),
  }
}

/** The words that only a conversation with calls of functions has. */
const CALLS: ReadonlySet<string> = new Set(['tool_calls', 'tool_call_id'])

function fittedCall(call: Outgoing, { functions, calls }: Takes): Fitted {
  const { body, bytes } = call
  const names = new Map<string, string>()
  const name = (given: unknown): unknown => {
    if (typeof given !== 'string' || given === '' || !functions || functions.test(given)) return given
    const fitting = madeName(given)
    names.set(fitting, given)
    return fitting
  }
  const id = (given: unknown): unknown => fittingId(given, calls)
  const ofFunction = (tool: unknown) => edited(tool, { function: (inner) => edited(inner, { name }) })
  const ofCall = (made: unknown) => edited(ofFunction(made), { id })
  const ofMessage = (message: unknown) => {
    const { role } = asRecord(message)
    if (role === 'assistant') return edited(message, { tool_calls: (list) => all(list, ofCall) })
    return role === 'tool' ? edited(message, { tool_call_id: id, name }) : message
  }
  const ofChoice = (choice: unknown) =>
    edited(ofFunction(choice), {
      allowed_tools: (allowed) => edited(allowed, { tools: (list) => all(list, ofFunction) }),
    })
  const changes: Record<string, unknown> = {}
  const change = (field: string, edit: (value: unknown) => unknown) => {
    const before = body[field]
    const after = edit(before)
    if (after !== before) changes[field] = after
  }
  if (functions) {
    change('tools', (tools) => all(tools, ofFunction))
    change('tool_choice', ofChoice)
  }
  if (wordsIn(body, 'messages', CALLS)?.size !== 0) change('messages', (messages) => all(messages, ofMessage))
  if (Object.keys(changes).length === 0) return { call, names }
  return {
    call: { ...call, body: { ...body, ...changes }, bytes: joinBytes(editJson(bytes, body, changes)) },
    names,
  }
}

type Edit = (value: unknown) => unknown

/** The record with some members edited; the same record where none changes. */
function edited(value: unknown, edits: Readonly<Record<string, Edit>>): unknown {
  if (!isRecord(value)) return value
  let result: JsonRecord = value
  for (const [member, edit] of Object.entries(edits)) {
    if (value[member] === undefined) continue
    const after = edit(value[member])
    if (after !== value[member]) result = { ...result, [member]: after }
  }
  return result
}

/** The list with its items edited; the same list where none changes. */
function all(value: unknown, edit: Edit): unknown {
  if (!Array.isArray(value)) return value
  const list = value.map(edit)
  return list.some((item, index) => item !== value[index]) ? list : value
}

/** A whole answer or a chunk with the client's names of functions. */
function withNames<Answer extends ChatCompletion | ChatChunk>(answer: Answer, names: Fitted['names']): Answer {
  const own: Edit = (name) => names.get(String(name)) ?? name
  const ofCall: Edit = (call) => edited(call, { function: (inner) => edited(inner, { name: own }) })
  const ofMessage: Edit = (message) => edited(message, { tool_calls: (list) => all(list, ofCall) })
  const ofChoice: Edit = (choice) => edited(choice, { message: ofMessage, delta: ofMessage })
  return edited(answer, { choices: (list) => all(list, ofChoice) }) as Answer
}
