import { joinBytes } from '../../lib/bytes/bytes.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { asList, asRecord, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatChunk, ChatCompletion } from '../../modes/chat-completion.ts'
import type { Adapter, Outgoing } from '../../providers/provider.ts'
import { reworded } from './reworded.ts'

/** An adapter of chat whose vendor is asked for tools where a client asks for `functions`, which is what OpenAI called them
 *  first. The answer has the call in the client's words. */
export function withLegacyFunctions(adapter: Adapter): Adapter {
  return reworded(adapter, isLegacy, (call) => ({ call: inTools(call), answer: inFunctions }))
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
