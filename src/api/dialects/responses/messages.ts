import { asList, asRecord, asText, entryOf, isRecord } from '../../../lib/json/lenient.ts'
import type { ThinkingBlock, ToolCall } from '../../../modes/chat-completion.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { notKept } from '../../../pipeline/memory/not-kept.ts'
import { inexpressible } from '../inexpressible.ts'
import { compactionMessage } from './compaction.ts'
import { chatContent, type Part } from './content.ts'
import { offeredName } from './functions.ts'
import { toldCall } from './mcp-call-item.ts'
import { openThinking } from './thinking.ts'

export interface Message {
  readonly role: string
  readonly content?: unknown
  readonly [field: string]: unknown
}

/** One turn of the model: items that chat holds in a single message. */
interface Turn {
  content?: unknown
  reasoning: string
  thinking: ThinkingBlock[]
  calls: ToolCall[]
}

/** The items of an input as chat messages, in order. Neighbouring reasoning, text and function calls of the model are
 *  one turn. The result of a call may come after words of others: chat has it before them. */
export function messagesOf(input: string | readonly Part[], drop: Drop = () => {}): Message[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  /** Words of somebody else than the model, and all that it has said and called since. */
  let exchange: Message[] = []
  const exchanges = [exchange]
  /** Where calls were made, by their ids. */
  const askedIn = new Map<string, Message[]>()
  let turn: Turn | undefined
  /** The results of calls of the turn that had been run for it. */
  let told: Message[] = []
  const flush = () => {
    const said = turn?.content === undefined && turn?.calls.length ? exchange.at(-1) : undefined
    // Reasoning may stand between a text and the calls that follow from it. In chat they are one message.
    if (turn && said && isText(said)) exchange[exchange.length - 1] = withCalls(said, turnMessage(turn))
    else if (turn) exchange.push(turnMessage(turn))
    for (const { id } of turn?.calls ?? []) askedIn.set(id, exchange)
    exchange.push(...told)
    turn = undefined
    told = []
  }
  const hear = (message: Message) => {
    flush()
    exchange = [message]
    exchanges.push(exchange)
  }
  const begin = () => {
    turn ??= { reasoning: '', thinking: [], calls: [] }
    return turn
  }

  const kinds: Readonly<Record<string, (item: Part, param: string) => void>> = {
    message(item, param) {
      const content = chatContent(item.content, `${param}.content`)
      if (item.role !== 'assistant') return hear({ role: chatRole(item.role, param), content })
      if (turn?.content !== undefined) flush()
      begin().content = content
    },
    reasoning(item) {
      // Reasoning begins a turn.
      if (turn && (turn.content !== undefined || turn.calls.length > 0)) flush()
      const { reasoning, thinking } = begin()
      begin().reasoning = reasoning + (partsText(item.summary) || partsText(item.content))
      thinking.push(...(openThinking(item.encrypted_content) ?? []))
    },
    function_call(item, param) {
      const text = item.arguments
      const call = {
        name: nameOf(item, param),
        arguments: isRecord(text) ? JSON.stringify(text) : asText(text) || '{}',
      }
      begin().calls.push({ id: callIdOf(item, param), type: 'function', function: call })
    },
    custom_tool_call(item, param) {
      const call = { name: nameOf(item, param), arguments: JSON.stringify({ input: asText(item.input) }) }
      begin().calls.push({ id: callIdOf(item, param), type: 'function', function: call })
    },
    local_shell_call(item, param) {
      const { type: _, ...action } = asRecord(item.action)
      called('local_shell', action, item, param)
    },
    shell_call: (item, param) => called('shell', item.action, item, param),
    apply_patch_call: (item, param) => called('apply_patch', item.operation, item, param),
    computer_call: (item, param) => called('computer', { actions: item.actions ?? [item.action] }, item, param),
    mcp_call(item) {
      const { callId, name, arguments: text, output } = toldCall(item, asText(item.server_label))
      begin().calls.push({ id: callId, type: 'function', function: { name, arguments: text } })
      told.push({ role: 'tool', tool_call_id: callId, content: output })
    },
    // What there was to call says nothing that its calls do not.
    mcp_list_tools: () => {},
    tool_search_call: () => {},
    tool_search_output: () => {},
    // These change the request, not the conversation.
    additional_tools: () => {},
    configuration_update: () => {},
    compaction_trigger: () => {},
    compaction(item, param) {
      const message = compactionMessage(item)
      if (!message)
        throw inexpressible(`${param}.encrypted_content`, 'Only the provider that made this compaction can read it.')
      hear({ role: 'user', content: message.content })
    },
    item_reference({ id }, param) {
      throw notKept({ id: asText(id), param: `${param}.id`, kind: 'item' })
    },
    function_call_output: result,
    custom_tool_call_output: result,
    local_shell_call_output: (item, param) => result({ call_id: item.id, ...item }, param),
    shell_call_output: (item, param) => result({ ...item, output: JSON.stringify(item.output ?? []) }, param),
    apply_patch_call_output: (item, param) => result({ ...item, output: asText(item.output) || item.status }, param),
    computer_call_output: (item, param) =>
      result({ ...item, output: [{ ...asRecord(item.output), type: 'input_image' }] }, param),
  }
  /** A call of a tool that the client runs and that only its vendor's models know, as one of a function. */
  function called(name: string, given: unknown, item: Part, param: string): void {
    const call = { name, arguments: JSON.stringify(asRecord(given)) }
    begin().calls.push({ id: callIdOf(item, param), type: 'function', function: call })
  }
  function result(item: Part, param: string): void {
    flush()
    const content = chatContent(item.output, `${param}.output`)
    const callId = callIdOf(item, param)
    const asked = askedIn.get(callId) ?? exchange
    asked.push({ role: 'tool', tool_call_id: callId, content })
  }

  for (const [index, item] of input.entries()) {
    const param = `input.${index}`
    const type = item.type ?? 'message'
    const read = entryOf(kinds, type)
    if (!read && OF_PROVIDERS.has(asText(type))) {
      drop(`input.${asText(type)}`)
      continue
    }
    // Calls of one turn stand together, their results behind them.
    if (told.length > 0 && type !== 'mcp_call') flush()
    if (!read) throw inexpressible(`${param}.type`, `Items of type '${asText(type)}' are not supported at '${param}'.`)
    read(item, param)
  }
  flush()
  return exchanges.flat()
}

/** Calls of tools that a provider ran. What they led to is in the message behind them. */
const OF_PROVIDERS: ReadonlySet<string> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'program',
  'program_output',
])

function callIdOf({ call_id }: Part, param: string): string {
  if (typeof call_id === 'string') return call_id
  throw inexpressible(`${param}.call_id`, `'${param}.call_id' must be a string.`)
}

function nameOf({ name, namespace }: Part, param: string): string {
  if (typeof name === 'string') return offeredName(name, namespace)
  throw inexpressible(`${param}.name`, `'${param}.name' must be a string.`)
}

function turnMessage({ content, reasoning, thinking, calls }: Turn): Message {
  return {
    role: 'assistant',
    content: content ?? (calls.length > 0 ? null : ''),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(thinking.length === 0 ? {} : { thinking_blocks: thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

const isText = ({ role, tool_calls }: Message) => role === 'assistant' && tool_calls === undefined

function withCalls(said: Message, called: Message): Message {
  const reasoning = [said, called].map(({ reasoning_content }) => asText(reasoning_content)).filter(Boolean)
  const thinking = [said, called].flatMap(({ thinking_blocks }) => asList(thinking_blocks))
  return {
    ...said,
    ...(reasoning.length === 0 ? {} : { reasoning_content: reasoning.join('\n\n') }),
    ...(thinking.length === 0 ? {} : { thinking_blocks: thinking }),
    tool_calls: called.tool_calls,
  }
}

/** `developer` is a newer name of `system`, which every provider knows. */
const ROLES: Readonly<Record<string, string>> = { user: 'user', system: 'system', developer: 'system' }

function chatRole(role: unknown, param: string): string {
  const known = entryOf(ROLES, role)
  if (known === undefined) {
    throw inexpressible(`${param}.role`, `'${param}.role' must be user, assistant, system or developer.`)
  }
  return known
}

function partsText(parts: unknown): string {
  if (!Array.isArray(parts)) return ''
  return parts.map((part) => (typeof part?.text === 'string' ? part.text : '')).join('\n\n')
}
