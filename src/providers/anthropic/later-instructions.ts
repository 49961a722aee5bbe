import { asText } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { INSTRUCTIONS } from '../wire/fitting/basic-conversation.ts'
import { claudeVersion } from './claude-version.ts'

type Messages = ChatRequest['messages']
type Message = Messages[number]

/** Whether a model takes instructions among the turns: Opus since 4.8, Sonnet since 5.5, and all that are newer. */
export const takesInstructions = (model: string): boolean =>
  claudeVersion(model) >= (model.includes('sonnet') ? 505 : 408)

/** A conversation that does not end with the model's words because of instructions behind them, which are to move away: the
 *  user says these. Models since 4.6 refuse to go on with their own words. */
export function withEndOfUser(messages: Messages, model: string): Messages {
  const last = messages.findLastIndex(({ role }) => !INSTRUCTIONS.has(role))
  const isOfModel = messages[last]?.role === 'assistant' && !messages[last].tool_calls
  if (last === messages.length - 1 || !isOfModel || !(claudeVersion(model) >= 406)) return messages
  return [...messages.slice(0, last + 1), ...messages.slice(last + 1).map(asUsers)]
}

/** A conversation whose later instructions stay among the turns, so that what was said before them stays as the model knows
 *  it: behind what the user says, in front of the answer. Where they have no such place, and everywhere unless they may be
 *  `instructions`, the user says them. What is said later never moves them. */
export function withLaterInstructions(messages: Messages, instructions: boolean): Messages {
  const begun = messages.findIndex(({ role }) => !INSTRUCTIONS.has(role))
  if (!messages.slice(begun).some(({ role }) => INSTRUCTIONS.has(role))) return messages
  const placed = messages.slice(0, begun)
  let held: Message[] = []
  const release = () => {
    const isBehindUser = placed.at(-1)?.role !== 'assistant'
    placed.push(...(instructions && isBehindUser ? held : held.map(asUsers)))
    held = []
  }
  for (const message of messages.slice(begun)) {
    if (INSTRUCTIONS.has(message.role)) {
      held.push(message)
      continue
    }
    if (message.role === 'assistant') release()
    placed.push(message)
  }
  release()
  return placed
}

const NOTE = 'An instruction of the operator, not of the user:\n\n'

function asUsers(message: Message): Message {
  const { content } = message
  const noted = Array.isArray(content) ? [{ type: 'text', text: NOTE }, ...content] : NOTE + asText(content)
  return { ...message, role: 'user', content: noted }
}
