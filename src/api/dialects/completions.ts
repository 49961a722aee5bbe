import type { ChatRequest } from '../../modes/chat.ts'
import type { ChatChunk, FinishReason } from '../../modes/chat-completion.ts'
import { type CompletionRequest, completionRequest } from '../../modes/completion.ts'
import { asDialect } from '../../pipeline/translate/dialect.ts'
import { chatErrorEvent } from '../failures.ts'
import { inexpressible } from './inexpressible.ts'
import { prependToCompletion } from './prepend.ts'

const encoder = new TextEncoder()
const NOTHING = new Uint8Array()
const DONE = encoder.encode('data: [DONE]\n\n')

/** Text completions: the prompt becomes one user message, and the answer is text. */
export const completionsDialect = asDialect<CompletionRequest>({
  native: undefined,
  schema: completionRequest,
  prepend: prependToCompletion,
  toChat,
  fromChat({ id, created, model, choices, usage, ...rest }) {
    return {
      id: ownId(id),
      object: 'text_completion',
      created,
      model,
      choices: listOf(choices).map(({ index, message, finish_reason }, position) =>
        choiceOf(index ?? position, message, finish_reason ?? null),
      ),
      ...fingerprint(rest),
      ...(usage ? { usage } : {}),
    }
  },
  stream(request) {
    const showUsage = request.stream_options?.include_usage === true
    return {
      write: (chunk) => (isShown(chunk, showUsage) ? eventOf(chunk, showUsage) : NOTHING),
      close: () => DONE,
    }
  },
  errorEvent: chatErrorEvent,
})

/** Fields that chat cannot express, with the values that have no effect. */
const UNSET: Readonly<Record<string, readonly unknown[]>> = {
  echo: [false],
  best_of: [1],
  logprobs: [],
  suffix: [''],
  tools: [],
  functions: [],
}

function toChat(request: CompletionRequest): ChatRequest {
  for (const [field, values] of Object.entries(UNSET)) {
    const value = request[field]
    if (value === undefined || value === null || values.includes(value)) continue
    throw inexpressible(field, `'${field}' is not supported by /v1/completions; leave it out.`)
  }
  const { prompt, echo: _echo, best_of: _best, logprobs: _logprobs, suffix: _suffix, ...rest } = request
  const { tools: _tools, functions: _functions, stream_options, ...travels } = rest
  return {
    ...travels,
    messages: [{ role: 'user', content: typeof prompt === 'string' ? prompt : prompt.join('\n') }],
    // The pipeline settles by the usage; `write` decides whether the client sees it.
    ...(request.stream === true ? { stream_options: { ...stream_options, include_usage: true } } : {}),
  }
}

function isShown({ choices, usage }: ChatChunk, showUsage: boolean): boolean {
  const list = listOf(choices)
  if (list.length === 0) return showUsage && Boolean(usage)
  return list.some(({ delta, finish_reason }) => textOf(delta) !== '' || typeof finish_reason === 'string')
}

function eventOf({ id, created, model, choices, usage, ...rest }: ChatChunk, showUsage: boolean): Uint8Array {
  const event = {
    id: ownId(id),
    object: 'text_completion',
    created,
    model,
    choices: listOf(choices).map(({ index, delta, finish_reason }) => choiceOf(index ?? 0, delta, finish_reason)),
    ...fingerprint(rest),
    ...(showUsage ? { usage: usage ?? null } : {}),
  }
  return encoder.encode(`data: ${JSON.stringify(event)}\n\n`)
}

function choiceOf(index: number, message: unknown, finish: FinishReason | null): object {
  const reason = finish === 'length' || finish === 'content_filter' ? finish : 'stop'
  return { text: textOf(message), index, logprobs: null, finish_reason: finish ? reason : null }
}

/** The text of a message or a delta: its content, or its refusal. */
function textOf(message: unknown): string {
  const { content, refusal } = (message ?? {}) as { content?: unknown; refusal?: unknown }
  if (typeof content === 'string' && content !== '') return content
  if (Array.isArray(content)) return content.map((part) => (typeof part?.text === 'string' ? part.text : '')).join('')
  return typeof refusal === 'string' ? refusal : ''
}

function ownId(id: unknown): string {
  return `cmpl-${typeof id === 'string' ? id.replace(/^chatcmpl-/, '') : ''}`
}

function fingerprint(rest: object): object {
  const { system_fingerprint } = rest as { system_fingerprint?: unknown }
  return typeof system_fingerprint === 'string' ? { system_fingerprint } : {}
}

/** Some vendors leave out the list, or items of it. */
function listOf<Item>(list: readonly Item[] | null | undefined): readonly Item[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'object' && item !== null) : []
}
