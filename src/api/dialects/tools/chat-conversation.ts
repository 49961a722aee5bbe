import { newId } from '../../../lib/ids.ts'
import { wordsIn } from '../../../lib/json/lazy-json.ts'
import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ModelRequest } from '../../../modes/mode.ts'
import type { AskedCall, ToolConversation, ToolExecution } from '../../../pipeline/tools/tool-conversation.ts'
import { callArguments } from '../../../providers/wire/call-arguments.ts'
import { sumUsage } from './sum-usage.ts'

/** The fields of an answered message that are part of the conversation. */
const SAID = ['content', 'reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks'] as const

const EXECUTIONS: ReadonlySet<string> = new Set(['tool_executions'])

/** Managed tools in chat: an answer tells of them in `message.tool_executions`, which a client may send back. */
export const chatConversation: ToolConversation = {
  member: 'messages',
  labelled: false,

  history: ({ messages }: ModelRequest) => asList(messages).map(asRecord).flatMap(withExecutions),

  tellsOfCalls(request) {
    const found = wordsIn(request, 'messages', EXECUTIONS)
    return found ? found.size > 0 : asList(request.messages).some((message) => 'tool_executions' in asRecord(message))
  },

  namesOf: (tool) => [asText(asRecord(tool.function).name) || asText(asRecord(tool.custom).name)],

  functionOf: ({ publicName, description, inputSchema }) => ({
    type: 'function',
    function: { name: publicName, ...(description === '' ? {} : { description }), parameters: inputSchema },
  }),

  unforced(choice) {
    if (choice === 'required') return undefined
    if (!isRecord(choice)) return choice
    if (choice.type !== 'allowed_tools') return undefined
    return { ...choice, allowed_tools: { ...asRecord(choice.allowed_tools), mode: 'auto' } }
  },

  read(answer) {
    const choice = asRecord(asList(answer.choices)[0])
    const message = asRecord(choice.message)
    const written = identified(asList(message.tool_calls).map(asRecord))
    const said: Record<string, unknown> = { role: 'assistant', content: null }
    for (const field of SAID) if (message[field] != null) said[field] = message[field]
    return {
      calls: written.map(askedCall),
      cut: choice.finish_reason === 'length' || choice.finish_reason === 'content_filter',
      said: [{ ...said, tool_calls: written.map(withArguments) }],
    }
  },

  results(executions) {
    const shown = executions.filter(({ images }) => images.length > 0)
    const parts = shown.flatMap(({ id, images }) => [
      { type: 'text', text: `The images of the result of ${id}:` },
      ...images.map(({ mediaType, data }) => ({
        type: 'image_url',
        image_url: { url: `data:${mediaType};base64,${data}` },
      })),
    ])
    return [
      ...executions.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
      ...(parts.length > 0 ? [{ role: 'user', content: parts }] : []),
    ]
  },

  answer({ turns, isDropped }) {
    const { document, turn } = turns.at(-1) as (typeof turns)[number]
    const executions = turns.flatMap((one) => one.executions)
    const [first, ...others] = asList(document.choices).map(asRecord)
    const { tool_calls, ...message } = asRecord(first?.message)
    const written = asList(tool_calls).map((call, index) => ({ ...asRecord(call), id: turn.calls[index]?.id }))
    const ran = new Set(turns.at(-1)?.executions.map(({ id }) => id))
    const isOwn = (call: AskedCall | undefined) => call !== undefined && !ran.has(call.id) && !isDropped(call)
    const own = written.filter((_, index) => isOwn(turn.calls[index]))
    const dropped = own.length === 0 && turn.calls.some(isDropped)
    const usage = sumUsage(turns.map((one) => one.document.usage))
    const answered = {
      ...message,
      ...(own.length > 0 ? { tool_calls: own } : {}),
      tool_executions: executions.map(told),
    }
    return {
      ...document,
      choices: [
        { ...first, message: answered, ...(dropped && first?.finish_reason !== 'content_filter' ? LIMITED : {}) },
        ...others,
      ],
      ...(usage ? { usage } : {}),
    }
  },
}

/** The model asked for calls that it may not have: its answer ends there. */
const LIMITED = { finish_reason: 'length' }

function told({ id, server, tool, name, arguments: text, text: result, isError, ms, turn }: ToolExecution): JsonRecord {
  return { id, server, tool, name, arguments: text, result, is_error: isError, duration_ms: ms, turn }
}

const askedCall = (call: JsonRecord): AskedCall => {
  const { name, arguments: written } = asRecord(call.function)
  const text = isRecord(written) ? JSON.stringify(written) : asText(written)
  return { id: asText(call.id), name: asText(name) || asText(asRecord(call.custom).name), arguments: text }
}

/** Calls with ids that differ: some vendors send none, or the same for each call. */
function identified(calls: readonly JsonRecord[]): JsonRecord[] {
  const seen = new Set<unknown>()
  return calls.map((call) => {
    const id = asText(call.id) === '' || seen.has(call.id) ? newId('call') : call.id
    seen.add(id)
    return { ...call, id }
  })
}

/** The call as a part of the conversation: several vendors refuse arguments that are no object. */
function withArguments(call: JsonRecord): JsonRecord {
  const named = asRecord(call.function)
  if (call.function === undefined || callArguments(named.arguments)) return call
  return { ...call, function: { ...named, arguments: '{}' } }
}

/** A message that tells of executions as the messages that it stands for. */
function withExecutions(message: JsonRecord): JsonRecord[] {
  if (!Array.isArray(message.tool_executions)) return [message]
  const { tool_executions, ...answered } = message
  const executions = asList(tool_executions).map(asRecord)
  const turns = new Map<unknown, JsonRecord[]>()
  for (const one of executions) turns.set(one.turn, [...(turns.get(one.turn) ?? []), one])
  const before = [...turns.values()].flatMap((calls) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: calls.map(({ id, name, arguments: text }) =>
        withArguments({ id, type: 'function', function: { name, arguments: asText(text) || '{}' } }),
      ),
    },
    ...calls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: asText(result) })),
  ])
  return [...before, answered]
}
