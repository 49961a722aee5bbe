import { asList, asRecord } from '../../lib/json/lenient.ts'
import type { ChatChunk } from '../../modes/chat-completion.ts'
import { isSealed } from '../../providers/openai/answers/reasoning-details.ts'

/** What a stream has sent to its client so far, as much as another deployment needs in order to continue it. */
export interface AnswerSoFar {
  add(chunk: ChatChunk): void
  text(): string
  /** The fields that all chunks of one answer share; undefined until the first content. */
  readonly head: Pick<ChatChunk, 'id' | 'created' | 'model'> | undefined
  /** Another deployment can continue the answer: it holds text only, no tool calls, signed thoughts or several choices. */
  readonly continuable: boolean
}

export function newAnswerSoFar(): AnswerSoFar {
  const pieces: string[] = []
  let own = false
  // Plain fields: an object literal with a getter gets a hidden class of its own each time.
  const soFar: { -readonly [Name in keyof AnswerSoFar]: AnswerSoFar[Name] } = {
    head: undefined,
    continuable: false,
    add({ id, created, model, choices }) {
      if (!Array.isArray(choices)) return
      for (const choice of choices) {
        soFar.head ??= { id, created, model }
        const { content, ...other } = (choice?.delta ?? {}) as Record<string, unknown>
        if (typeof content === 'string') pieces.push(content)
        else if (content !== undefined && content !== null) own = true
        if ((choice?.index ?? 0) !== 0 || PERSONAL.some((field) => isSomething(other[field]))) own = true
        if (asList(other.reasoning_details).some((detail) => isSealed(asRecord(detail)))) own = true
      }
      soFar.continuable = soFar.head !== undefined && !own
    },
    text: () => pieces.join(''),
  }
  return soFar
}

/** Fields of a delta that another deployment cannot continue. */
const PERSONAL = ['tool_calls', 'function_call', 'thinking_blocks', 'refusal', 'audio'] as const

function isSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return value !== undefined && value !== null && value !== ''
}
