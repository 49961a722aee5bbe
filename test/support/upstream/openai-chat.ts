import { seededRandom } from '../random.ts'

export interface AnswerOptions {
  readonly text?: string
  /** Instead of `text`: that many bytes of it, made at the far end. */
  readonly textBytes?: number
  /** How the text is cut into deltas; by words when it is left out. */
  readonly pieces?: readonly string[]
  readonly reasoning?: string
  /** Streamed interleaved: one piece of each call's arguments in turn. */
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  /** null: the answer stops without saying why. */
  readonly finishReason?: string | null
  /** Whether a stream ends with `[DONE]`; when left out, it does if it has a finish reason. */
  readonly done?: boolean
  /** `asked` is what the vendor does: always in a whole reply, in a stream when `stream_options` asks for it. */
  readonly usage?: 'asked' | 'missing' | 'twice' | 'zero' | Readonly<Record<string, unknown>>
  /** The model that says it served; the one that was asked for when left out. */
  readonly model?: string
}

export interface ChatRequest {
  readonly model: string
  readonly n?: number
  readonly messages?: unknown
  readonly stream_options?: { readonly include_usage?: boolean; readonly include_obfuscation?: boolean }
}

const CREATED = 1_760_000_000
const FINGERPRINT = 'fp_51db84afab'
const DEFAULT_TEXT = 'Hello, this is the scripted upstream. Grüße aus Zürich, 你好, 🙂.'

/** `POST /v1/chat/completions`, whole. */
export function chatReply(request: ChatRequest, options: AnswerOptions, serial: number): string {
  const text = textOf(options)
  const toolCalls = options.toolCalls?.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }))
  const message = {
    role: 'assistant',
    content: toolCalls && options.text === undefined ? null : text,
    ...(options.reasoning === undefined ? {} : { reasoning_content: options.reasoning }),
    ...(toolCalls ? { tool_calls: toolCalls } : {}),
    refusal: null,
    annotations: [],
  }
  const choices = choiceIndexes(request).map((index) => ({
    index,
    message,
    logprobs: null,
    finish_reason: finishReason(options),
  }))
  const usage = options.usage === 'missing' ? {} : { usage: usageOf(request, options) }
  const identity = { id: chatId(serial), object: 'chat.completion', created: CREATED }
  return JSON.stringify({
    ...identity,
    model: options.model ?? request.model,
    choices,
    ...usage,
    service_tier: 'default',
    system_fingerprint: FINGERPRINT,
  })
}

/** The same, streamed: one string per event, each with the blank line that ends it. */
export function chatFrames(request: ChatRequest, options: AnswerOptions, serial: number): string[] {
  const usageMode = options.usage ?? 'asked'
  const tellsUsage = usageMode === 'asked' ? request.stream_options?.include_usage === true : usageMode !== 'missing'
  const padding = seededRandom(serial)
  const envelope = (choices: unknown[], usage: unknown) =>
    frame({
      id: chatId(serial),
      object: 'chat.completion.chunk',
      created: CREATED,
      model: options.model ?? request.model,
      service_tier: 'default',
      system_fingerprint: FINGERPRINT,
      choices,
      ...(tellsUsage ? { usage } : {}),
      ...(request.stream_options?.include_obfuscation === false ? {} : { obfuscation: padding.letters(8) }),
    })
  const delta = (index: number, content: unknown, finish: string | null = null) =>
    envelope([{ index, delta: content, logprobs: null, finish_reason: finish }], null)

  const indexes = choiceIndexes(request)
  const deltas = [{ role: 'assistant', content: '', refusal: null }, ...deltasOf(options)]
  const frames = deltas.flatMap((content) => indexes.map((index) => delta(index, content)))
  const finish = finishReason(options)
  if (finish !== null) frames.push(...indexes.map((index) => delta(index, {}, finish)))
  if (tellsUsage) frames.push(envelope([], usageOf(request, options)))
  if (options.usage === 'twice') frames.push(envelope([], usageOf(request, options)))
  if (options.done ?? finish !== null) frames.push('data: [DONE]\n\n')
  return frames
}

export function frame(data: unknown): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

/** Tokens as this far end counts them: a word is one. */
export function countTokens(value: unknown): number {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.split(/\s+/).filter(Boolean).length
}

function deltasOf(options: AnswerOptions): unknown[] {
  const reasoning = words(options.reasoning ?? '').map((piece) => ({ reasoning_content: piece }))
  const silent = options.toolCalls && options.text === undefined
  const content = silent ? [] : (options.pieces ?? words(textOf(options))).map((piece) => ({ content: piece }))
  return [...reasoning, ...content, ...toolDeltas(options)]
}

function toolDeltas(options: AnswerOptions): unknown[] {
  const calls = options.toolCalls ?? []
  const deltas: unknown[] = calls.map((call, index) => ({
    tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
  }))
  const pieces = calls.map((call) => call.arguments.match(/[\s\S]{1,7}/gu) ?? [])
  for (let turn = 0; pieces.some((list) => turn < list.length); turn++) {
    for (const [index, list] of pieces.entries()) {
      const piece = list[turn]
      if (piece !== undefined) deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] })
    }
  }
  return deltas
}

function usageOf(request: ChatRequest, options: AnswerOptions): unknown {
  if (typeof options.usage === 'object') return options.usage
  const zero = options.usage === 'zero'
  const reasoning = zero ? 0 : countTokens(options.reasoning)
  const tools = (options.toolCalls ?? []).reduce((sum, call) => sum + countTokens(call.arguments) + 1, 0)
  const spoken = options.toolCalls && options.text === undefined ? 0 : countTokens(textOf(options))
  const prompt = zero ? 0 : countTokens(request.messages)
  const completion = zero ? 0 : reasoning + tools + spoken * choiceIndexes(request).length
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

function textOf(options: AnswerOptions): string {
  if (options.textBytes !== undefined)
    return 'lorem ipsum '.repeat(options.textBytes / 12 + 1).slice(0, options.textBytes)
  return options.pieces?.join('') ?? options.text ?? DEFAULT_TEXT
}

const words = (text: string): string[] => text.match(/\s*\S+/gu) ?? []
const finishReason = (options: AnswerOptions) =>
  options.finishReason === undefined ? (options.toolCalls ? 'tool_calls' : 'stop') : options.finishReason
const choiceIndexes = (request: ChatRequest) => Array.from({ length: request.n ?? 1 }, (_, index) => index)
const chatId = (serial: number) => `chatcmpl-${seededRandom(serial + 1).letters(29)}`
