/** What travels in the benchmark: one request, one whole reply of about 1 KB, one stream of 100 words. */
export const MODEL = 'bench'
export const CHUNKS = 100

const messages = [
  { role: 'system', content: 'You are a helpful assistant that answers in one short paragraph.' },
  { role: 'user', content: 'Explain to a new colleague what a reverse proxy does and why one would put it in front.' },
]

export const requestBody = (stream: boolean): string =>
  JSON.stringify({ model: MODEL, messages, temperature: 0.7, max_tokens: 256, ...(stream ? { stream } : {}) })

/** A long conversation, of 1 MB in all, of so many repetitions of some words. */
const conversation = (words: string, repetitions: number) =>
  JSON.stringify({
    model: MODEL,
    messages: Array.from({ length: 200 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `${index} ${words.repeat(repetitions)}`,
    })),
  })

const embeddingsRequest = JSON.stringify({ model: MODEL, input: ['one', 'two'], encoding_format: 'float' })

/** Asks for a stream of one word each so many milliseconds, each with the time at which it was sent, for as long as the
 *  client stays. */
export const pacedBody = (paceMs: number): string =>
  JSON.stringify({ model: MODEL, messages, stream: true, user: `paced-${paceMs}` })
export const PACED = /"user":"paced-(\d+)"/
/** One that the far end fails. */
export const failingBody = JSON.stringify({ model: MODEL, messages, user: 'failing' })
export const FAILING_MARK = '"user":"failing"'

/** What a load asks for. */
export type Kind = 'chat' | 'stream' | 'long-chat' | 'quoted-chat' | 'embeddings'

export const ASKS: Readonly<Record<Kind, { readonly path: string; readonly body: string }>> = {
  chat: { path: '/chat/completions', body: requestBody(false) },
  stream: { path: '/chat/completions', body: requestBody(true) },
  'long-chat': { path: '/chat/completions', body: conversation('All the plain words of a long talk, ', 155) },
  // Whoever delimits strings has the most to do where they are full of quotes.
  'quoted-chat': { path: '/chat/completions', body: conversation('All the "words" of a long talk,\n ', 160) },
  embeddings: { path: '/embeddings', body: embeddingsRequest },
}

/** Thirty vectors of 1,024 numbers: 0.6 MB. */
export const EMBEDDINGS = JSON.stringify({
  object: 'list',
  data: Array.from({ length: 30 }, (_, index) => ({
    object: 'embedding',
    index,
    embedding: Array.from({ length: 1024 }, (_, at) => Math.sin(index * 1024 + at) / 7),
  })),
  model: 'text-embedding-3-small',
  usage: { prompt_tokens: 8, total_tokens: 8 },
})

const sentence =
  'A reverse proxy takes calls for a service and hands them on, so that nobody sees what stands behind it. '
export const CONTENT = sentence.repeat(6).trim()

const usage = { prompt_tokens: 38, completion_tokens: 120, total_tokens: 158 }
const identity = { id: 'chatcmpl-BenchmarkBenchmarkBenchmark', created: 1_760_000_000, model: 'gpt-4o-mini-2024-07-18' }
const envelope = { service_tier: 'default', system_fingerprint: 'fp_51db84afab' }

export const REPLY = JSON.stringify({
  ...identity,
  object: 'chat.completion',
  ...envelope,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: CONTENT, refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage,
})

const word = (index: number) => `word${index} `
export const STREAMED_CONTENT = Array.from({ length: CHUNKS }, (_, index) => word(index)).join('')

const chunk = (delta: unknown, finish: string | null) => {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }]
  return `data: ${JSON.stringify({ ...identity, object: 'chat.completion.chunk', ...envelope, choices })}\n\n`
}

export const pacedFrame = (sentAt: number): string => chunk({ content: `sent=${sentAt} ` }, null)

/** The events of the stream, each with the blank line that ends it. */
export const STREAM: readonly string[] = [
  chunk({ role: 'assistant', content: '', refusal: null }, null),
  ...Array.from({ length: CHUNKS }, (_, index) => chunk({ content: word(index) }, null)),
  chunk({}, 'stop'),
  `data: ${JSON.stringify({ ...identity, object: 'chat.completion.chunk', ...envelope, choices: [], usage })}\n\n`,
  'data: [DONE]\n\n',
]
