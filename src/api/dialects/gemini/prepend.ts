import { asList, asRecord, parseRecord } from '../../../lib/json/lenient.ts'
import { type WrittenMembers, withFirst } from '../../../lib/json/written-json.ts'
import type { RenderedMessage } from '../../../routing/prompts/template.ts'

const decoder = new TextDecoder()

/** System messages go before the client's instruction, all others before its contents. */
export function prependToGemini(messages: readonly RenderedMessage[], own: WrittenMembers): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  const told = messages.filter(instructs).flatMap(partsOf)
  if (told.length > 0) {
    const place = own('systemInstruction') || !own('system_instruction') ? 'systemInstruction' : 'system_instruction'
    const written = own(place)
    changes[place] = withParts(told, written && decoder.decode(written))
  }
  const turns = messages.filter((message) => !instructs(message))
  if (turns.length > 0) {
    const contents = turns.map((message) => ({
      role: message.role === 'assistant' ? 'model' : 'user',
      parts: partsOf(message),
    }))
    const conversation = own('contents')
    changes.contents = conversation ? withFirst(contents, conversation) : contents
  }
  return changes
}

/** An instruction with parts before its own. A text, which some clients send, becomes one of them. */
function withParts(parts: readonly object[], written: string | undefined): object {
  if (written === undefined) return { parts }
  const given = parseRecord(written)
  return given
    ? { ...given, parts: [...parts, ...asList(given.parts)] }
    : { parts: [...parts, { text: asRecord(parseRecord(`{"text":${written}}`)).text }] }
}

const instructs = ({ role }: RenderedMessage) => role === 'system' || role === 'developer'

function partsOf({ content }: RenderedMessage): object[] {
  return typeof content === 'string' ? [{ text: content }] : content.map(({ text }) => ({ text }))
}
