import { asList, asRecord, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { MessagesRequest } from '../../../modes/messages.ts'
import { blocksOf } from './content.ts'

type Turn = MessagesRequest['messages'][number]

/** A block of a system message that offers a tool from there on, or no longer. */
export const isToolChange = ({ type }: JsonRecord) => type === 'tool_addition' || type === 'tool_removal'

/** The tools that are offered at the end of the conversation: chat offers the same ones all along. */
export function toolsAtTheEnd({ tools, messages }: MessagesRequest): MessagesRequest['tools'] {
  const changes = messages.flatMap(({ role, content }) => (role === 'user' ? [] : blocksOf(content).flatMap(changesIn)))
  if (changes.length === 0) return tools
  const known = new Map<unknown, JsonRecord>((tools ?? []).map((tool) => [tool.name ?? tool, tool]))
  const offered = new Map(known)
  for (const { type, tool } of changes) {
    const { name, definition } = asRecord(tool)
    if (isRecord(definition)) known.set(definition.name, definition)
    const changed = isRecord(definition) ? definition : known.get(name)
    if (type === 'tool_removal') offered.delete(name)
    else if (changed) offered.set(changed.name, changed)
  }
  return [...offered.values()]
}

/** A compaction tells the changes of what it stands for. */
const changesIn = (block: JsonRecord): readonly JsonRecord[] =>
  block.type === 'compaction' ? asList(block.tool_changes).map(asRecord) : isToolChange(block) ? [block] : []

/** The effort of the answer: the request's, or what a system message has set behind a turn of the user or before it. */
export function effortAtTheEnd({ messages, output_config }: MessagesRequest): unknown {
  let { effort } = asRecord(output_config)
  let coming: unknown
  let before: Turn | undefined
  for (const turn of messages) {
    if (turn.role === 'system') {
      const set = asRecord(turn.output_config).effort
      if (before && isNewInput(before)) effort = set ?? effort
      else coming = set ?? coming
      continue
    }
    if (isNewInput(turn)) {
      effort = coming ?? effort
      coming = undefined
    }
    before = turn
  }
  return effort
}

/** The results of tools go on with what was asked before. */
const isNewInput = ({ role, content }: Turn) =>
  role === 'user' && blocksOf(content).some(({ type }) => type !== 'tool_result')
