import { tokensOfCharacters } from '../../modes/usage.ts'
import { readAll } from '../../transport/read-all.ts'
import type { Transport, UpstreamBody, UpstreamResponse } from '../../transport/transport.ts'
import { wholeBody } from '../../transport/whole-body.ts'
import { openaiCompatible } from '../openai-compatible/index.ts'
import type { Provider } from '../provider.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

interface EchoRequest {
  readonly model: string
  readonly stream?: boolean
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[]
}

/** An upstream of OpenAI's shape inside the process. It answers with the last message, word by word when streamed, and needs
 *  neither a key nor a network. */
const transport: Transport = {
  async send(request): Promise<UpstreamResponse> {
    const sent = wholeBody(request.body)
    const body = JSON.parse(typeof sent === 'string' ? sent : decoder.decode(sent)) as EchoRequest
    const text = textOf(body.messages.at(-1)?.content)
    const identity = {
      id: `chatcmpl-${crypto.randomUUID()}`,
      created: Math.floor(Date.now() / 1000),
      model: body.model,
    }
    const characters = body.messages.reduce((sum, message) => sum + textOf(message.content).length, 0)
    const prompt_tokens = tokensOfCharacters(characters)
    const completion_tokens = tokensOfCharacters(text.length)
    const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
    if (body.stream) {
      return {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: bodyOf(eventsOf(text, { object: 'chat.completion.chunk', ...identity }, usage)),
      }
    }
    const message = { role: 'assistant', content: text, refusal: null }
    const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
    const answer = { object: 'chat.completion', ...identity, choices, usage }
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: bodyOf([JSON.stringify(answer)]),
    }
  },
}

function* eventsOf(text: string, chunk: object, usage: object): Generator<string> {
  const event = (value: object) => `data: ${JSON.stringify({ ...chunk, ...value })}\n\n`
  const delta = (value: object, finish_reason: string | null = null) =>
    event({ choices: [{ index: 0, delta: value, finish_reason }] })
  yield delta({ role: 'assistant', content: '' })
  for (const word of text.split(/(?<=\S)(?=\s)/)) yield delta({ content: word })
  yield delta({}, 'stop')
  yield event({ choices: [], usage })
  yield 'data: [DONE]\n\n'
}

function bodyOf(pieces: Iterable<string>): UpstreamBody {
  const iterator = pieces[Symbol.iterator]()
  let cancelled = false
  const body = {
    async read() {
      const next = iterator.next()
      return cancelled || next.done ? undefined : encoder.encode(next.value)
    },
    cancel() {
      cancelled = true
    },
  }
  return { ...body, bytes: (limitBytes) => readAll(body, limitBytes) }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: { text?: unknown }) => (typeof part?.text === 'string' ? part.text : '')).join('')
}

const shape = openaiCompatible('echo', {
  label: 'Echo',
  keyless: true,
  apiBase: 'http://echo.invalid/v1',
  modes: [],
  models: false,
})

export const echo: Provider = {
  ...shape,
  transport,
  profile: { label: 'Echo (no provider: repeats the question)', credentials: [] },
  listings: () => 'Every name works: it repeats the question.',
}
