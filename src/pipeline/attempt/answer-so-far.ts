import type { ChatChunk } from '../../modes/chat-completion.ts'

/** What a stream has told its client so far, as far as another deployment must know it to go on. */
export interface AnswerSoFar {
  add(chunk: ChatChunk): void
  text(): string
  /** What every chunk of one answer has in common; undefined until something was said. */
  readonly head: Pick<ChatChunk, 'id' | 'created' | 'model'> | undefined
  /** Nothing was said that only the one who said it can finish: a tool call, signed thoughts, several answers at once. */
  readonly continuable: boolean
}

export function newAnswerSoFar(): AnswerSoFar {
  const pieces: string[] = []
  let head: AnswerSoFar['head']
  let own = false
  return {
    add({ id, created, model, choices }) {
      if (!Array.isArray(choices)) return
      for (const choice of choices) {
        head ??= { id, created, model }
        const { content, ...other } = (choice?.delta ?? {}) as Record<string, unknown>
        if (typeof content === 'string') pieces.push(content)
        else if (content !== undefined && content !== null) own = true
        if ((choice?.index ?? 0) !== 0 || PERSONAL.some((field) => isSomething(other[field]))) own = true
      }
    },
    text: () => pieces.join(''),
    get head() {
      return head
    },
    get continuable() {
      return head !== undefined && !own
    },
  }
}

/** Fields of a delta that nobody else can go on from. */
const PERSONAL = ['tool_calls', 'function_call', 'thinking_blocks', 'reasoning_details', 'refusal', 'audio'] as const

function isSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return value !== undefined && value !== null && value !== ''
}
