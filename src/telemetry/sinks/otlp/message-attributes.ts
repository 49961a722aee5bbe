import { asList, asRecord, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { CallContent } from '../../content/recording.ts'
import type { CallFinished } from '../../events.ts'
import type { Attributes } from './attributes.ts'

type Part = JsonRecord & { readonly type: string }

/** The content of a call as the conventions write it: JSON texts of messages with their parts. */
export function messageAttributes(call: CallFinished, { request, answer }: CallContent): Attributes {
  const asked = asRecord(JSON.parse(request))
  const { instructions, system: told, systemInstruction, system_instruction } = asked
  const instruction = systemInstruction ?? system_instruction
  const system = instructions ?? told ?? asRecord(instruction).parts ?? instruction
  const input = inputMessages(asked)
  const output = outputMessages(JSON.parse(answer))
  return {
    'gen_ai.system_instructions': system === undefined || system === null ? undefined : JSON.stringify(partsOf(system)),
    'gen_ai.input.messages': input.length === 0 ? undefined : JSON.stringify(input),
    'gen_ai.output.messages': call.ending === 'failed' || output.length === 0 ? undefined : JSON.stringify(output),
  }
}

/** The messages of a request in any of the dialects; the whole request where it has none. */
function inputMessages(asked: JsonRecord): JsonRecord[] {
  const { messages, input, prompt, contents } = asked
  if (Array.isArray(contents)) return contents.map(contentOf)
  if (Array.isArray(messages)) return messages.map(messageOf)
  if (Array.isArray(input) && input.some(isRecord)) return input.map(itemOf)
  const text = input ?? prompt ?? (asked.shortened === undefined ? undefined : asked.shortened)
  return [{ role: 'user', parts: partsOf(text ?? asked) }]
}

function outputMessages(answer: unknown): JsonRecord[] {
  const { choices, content, output, answer: inside, output_text, candidates, message, finish_reason } = asRecord(answer)
  if (inside !== undefined) return outputMessages(inside)
  if (isRecord(message)) return [{ ...messageOf(message), finish_reason: finish_reason ?? 'stop' }]
  if (Array.isArray(candidates)) {
    return candidates.map((one) => {
      const { content: said, finishReason } = asRecord(one)
      return { role: 'assistant', parts: contentOf(said).parts, finish_reason: finishReason ?? 'stop' }
    })
  }
  if (Array.isArray(choices)) {
    return choices.map((one) => {
      const { message, text, finish_reason } = asRecord(one)
      const parts = message === undefined ? partsOf(text ?? one) : messageOf(message).parts
      return { role: 'assistant', parts, finish_reason: finish_reason ?? 'stop' }
    })
  }
  if (Array.isArray(content)) {
    return [{ role: 'assistant', parts: partsOf(content), finish_reason: asRecord(answer).stop_reason ?? 'stop' }]
  }
  if (Array.isArray(output) && output.length > 0) {
    return [{ role: 'assistant', parts: output.flatMap((item) => asList(itemOf(item).parts)), finish_reason: 'stop' }]
  }
  if (answer === null) return []
  return [{ role: 'assistant', parts: partsOf(output_text ?? answer), finish_reason: 'stop' }]
}

/** A content of Gemini's API. */
function contentOf(content: unknown): JsonRecord {
  const { role = 'user', parts } = asRecord(content)
  return { role: role === 'model' ? 'assistant' : role, parts: partsOf(asList(parts)) }
}

/** A message of chat or of Anthropic's API. */
function messageOf(message: unknown): JsonRecord {
  const { role = 'user', content, tool_calls, tool_call_id, reasoning_content, tool_plan } = asRecord(message)
  if (role === 'tool') return { role, parts: [{ type: 'tool_call_response', id: tool_call_id, response: content }] }
  const thought = reasoning_content || tool_plan
  const thoughts = thought ? [{ type: 'reasoning', content: thought }] : []
  const calls = asList(tool_calls).map((call) => {
    const { id, function: called } = asRecord(call)
    const { name = '', arguments: given } = asRecord(called)
    return { type: 'tool_call', id, name, arguments: given }
  })
  return { role, parts: [...thoughts, ...partsOf(content), ...calls] }
}

/** An item of responses. */
function itemOf(item: unknown): JsonRecord {
  const { type, role = 'user', content, call_id: id, name = '', arguments: given, output } = asRecord(item)
  if (type === 'function_call') return { role: 'assistant', parts: [{ type: 'tool_call', id, name, arguments: given }] }
  if (type === 'function_call_output')
    return { role: 'tool', parts: [{ type: 'tool_call_response', id, response: output }] }
  return { role, parts: content === undefined ? partsOf([item]) : partsOf(content) }
}

function partsOf(content: unknown): Part[] {
  if (content === null || content === undefined) return []
  if (typeof content === 'string') return [{ type: 'text', content }]
  if (!Array.isArray(content)) return [{ type: 'text', content: JSON.stringify(content) }]
  return content.map(partOf)
}

function partOf(part: unknown): Part {
  if (!isRecord(part)) return { type: 'text', content: typeof part === 'string' ? part : JSON.stringify(part) }
  const { type, text, thought, id, name = '', input, partial_json, tool_use_id, content, thinking } = part
  if (typeof text === 'string') return { type: thought === true ? 'reasoning' : 'text', content: text }
  const { functionCall, functionResponse } = part
  if (isRecord(functionCall)) {
    return { type: 'tool_call', id: functionCall.id, name: functionCall.name, arguments: functionCall.args }
  }
  if (isRecord(functionResponse)) {
    return { type: 'tool_call_response', id: functionResponse.id, response: functionResponse.response }
  }
  if (type === 'tool_use') return { type: 'tool_call', id, name, arguments: partial_json ?? input }
  if (type === 'tool_result') return { type: 'tool_call_response', id: tool_use_id, response: content }
  if (type === 'thinking') return { type: 'reasoning', content: thinking }
  return { ...part, type: typeof type === 'string' ? type : 'other' }
}
