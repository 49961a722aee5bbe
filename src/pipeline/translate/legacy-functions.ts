import { joinBytes } from '../../lib/bytes/bytes.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { asList, asRecord, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatChunk, ChatCompletion } from '../../modes/chat-completion.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Adapter, Outgoing, StreamStep } from '../../providers/provider.ts'
import { asChunks, asCompletion } from './chat-bytes.ts'

/** An adapter of chat whose vendor is asked for tools where a client asks for `functions`, which is what OpenAI called them
 *  first. The answer has the call in the client's words. */
export function withLegacyFunctions(adapter: Adapter): Adapter {
  const known = new WeakMap<ModelRequest, Outgoing>()
  const asTools = (call: Outgoing): Outgoing => {
    if (!isLegacy(call)) return call
    let told = known.get(call.body)
    if (!told) {
      told = inTools(call)
      known.set(call.body, told)
    }
    return told
  }
  const { stream, again } = adapter
  return {
    ...adapter,
    request: (call, connection) => adapter.request(asTools(call), connection),
    ...(again ? { again: (failure, call) => again(failure, asTools(call)) } : {}),
    reply(bytes, headers, call) {
      const reply = adapter.reply(bytes, headers, asTools(call))
      if (!isLegacy(call)) return reply
      const read = asCompletion(reply)
      return read.completion ? { ...read, completion: inFunctions(read.completion) } : read
    },
    ...(stream
      ? {
          stream(call, headers) {
            const reader = stream(asTools(call), headers)
            if (!isLegacy(call)) return reader
            const told = (step: StreamStep) => (step.chunk ? { ...step, chunk: inFunctions(step.chunk) } : step)
            return { ...reader, push: (piece) => reader.push(piece).flatMap(asChunks).map(told) }
          },
        }
      : {}),
  }
}

const isLegacy = ({ body: { functions, tools } }: Outgoing) => asList(functions).length > 0 && !asList(tools).length

function inTools(call: Outgoing): Outgoing {
  const { body, bytes } = call
  const { functions, function_call: choice, messages } = body
  const changes = {
    functions: undefined,
    function_call: undefined,
    tools: asList(functions).map(asTool),
    tool_choice: isRecord(choice) ? asTool(choice) : choice,
    messages: withTools(asList(messages).map(asRecord)),
  }
  const { functions: _, function_call: __, ...rest } = { ...body, ...changes }
  return { ...call, body: rest, bytes: joinBytes(editJson(bytes, body, changes)) }
}

const asTool = (named: unknown) => ({ type: 'function', function: named })

/** A conversation whose calls have ids, by the places of their turns. A result answers the call before it. */
function withTools(messages: readonly JsonRecord[]): JsonRecord[] {
  let id = ''
  return messages.map((message, index) => {
    const { function_call: called, name, ...rest } = message
    if (message.role === 'function') return { ...rest, role: 'tool', tool_call_id: id }
    if (!isRecord(called)) return message
    id = `call_${index}`
    return { ...message, function_call: undefined, tool_calls: [{ id, ...asTool(called) }] }
  })
}

/** A whole answer or a chunk with its first call as the only one that there was in those days. */
function inFunctions<Answer extends ChatCompletion | ChatChunk>(answer: Answer): Answer {
  const choices = answer.choices.map((choice: JsonRecord) => {
    const { finish_reason: end, message, delta } = choice
    return {
      ...choice,
      ...(message ? { message: withFunction(message) } : { delta: withFunction(delta) }),
      finish_reason: end === 'tool_calls' ? 'function_call' : end,
    }
  })
  return { ...answer, choices } as Answer
}

function withFunction(said: unknown): JsonRecord {
  const { tool_calls: calls, ...rest } = asRecord(said)
  const first = asList(calls)
    .map(asRecord)
    .find(({ index = 0 }) => index === 0)
  return first ? { ...rest, function_call: first.function } : rest
}
