import type { JsonRecord } from '../../src/lib/json/lenient.ts'

/** What a model answers in a turn: calls, or a text, or what a provider refuses it with. */
export interface ScriptedReply {
  readonly calls?: readonly (readonly [name: string, args: unknown])[]
  /** The input of a custom tool `docs__patch`, which providers without such know as a function. */
  readonly custom?: string
  readonly text?: string
  readonly finish?: string
  readonly input?: number
  readonly output?: number
  readonly status?: number
  readonly error?: object
  /** Reasoning, as OpenAI's Responses have it. */
  readonly thought?: string
  readonly ms?: number
}

export interface AskedModel {
  readonly origin: string
  readonly path: string
  readonly body: JsonRecord & { readonly messages?: readonly JsonRecord[]; readonly input?: readonly JsonRecord[] }
}

/** A turn of a model, with an id for each of its calls. */
interface Turn {
  readonly number: number
  readonly asked: AskedModel['body']
  readonly said: ScriptedReply
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: unknown }[]
  readonly input: number
  readonly output: number
}

/** How each API writes a turn, by the end of its path; all others speak chat. */
const REPLIES: readonly (readonly [end: string, reply: (turn: Turn) => object])[] = [
  ['/responses', responsesReply],
  ['/messages', messagesReply],
  [':generateContent', geminiReply],
  ['/converse', converseReply],
]

/** The reply to a request, in the shape of the API that it was asked by. */
export function replyTo({ path, body }: AskedModel, said: ScriptedReply, number: number): object {
  const reply = REPLIES.find(([end]) => path.endsWith(end))?.[1] ?? chatReply
  const patched = said.custom === undefined ? [] : [['docs__patch', { input: said.custom }] as const]
  // Responses have a shape of their own for custom tools.
  const called = [...(said.calls ?? []), ...(reply === responsesReply ? [] : patched)]
  const calls = called.map(([name, args], index) => ({ id: `call_${number}_${index + 1}`, name, args }))
  return reply({ number, asked: body, said, calls, input: said.input ?? 100, output: said.output ?? 10 })
}

const written = (args: unknown) => (typeof args === 'string' ? args : JSON.stringify(args))

function responsesReply({
  number,
  asked,
  said: { thought, text, custom, finish },
  calls,
  input,
  output,
}: Turn): object {
  const reasoning = { id: `rs_${number}`, type: 'reasoning', summary: [{ type: 'summary_text', text: thought }] }
  const message = {
    ...{ id: `msg_${number}`, type: 'message', role: 'assistant', status: 'completed' },
    content: [{ type: 'output_text', text, annotations: [] }],
  }
  return {
    id: `resp_${number}`,
    object: 'response',
    created_at: 1,
    status: finish ?? 'completed',
    model: asked.model,
    output: [
      ...(thought === undefined ? [] : [reasoning]),
      ...(text === undefined ? [] : [message]),
      ...calls.map(({ id, name, args }, index) => ({
        ...{ id: `fc_${number}_${index + 1}`, type: 'function_call', status: 'completed', call_id: id, name },
        arguments: written(args),
      })),
      ...(custom === undefined
        ? []
        : [{ id: `ctc_${number}`, type: 'custom_tool_call', call_id: 'call_c', name: 'docs__patch', input: custom }]),
    ],
    tools: asked.tools ?? [],
    tool_choice: asked.tool_choice ?? 'auto',
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  }
}

function messagesReply({ number, asked, said: { text }, calls, input, output }: Turn): object {
  return {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: asked.model,
    content: [
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
    ],
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: input, output_tokens: output },
  }
}

function geminiReply({ number, said: { text }, calls, input, output }: Turn): object {
  const parts = [
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ name, args }) => ({ functionCall: { name, args } })),
  ]
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
    modelVersion: 'm',
    responseId: `r${number}`,
  }
}

function converseReply({ said: { text }, calls, input, output }: Turn): object {
  const content = [
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ id, name, args }) => ({ toolUse: { toolUseId: id, name, input: args } })),
  ]
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: calls.length > 0 ? 'tool_use' : 'end_turn',
    usage: { inputTokens: input, outputTokens: output, totalTokens: input + output },
    metrics: { latencyMs: 1 },
  }
}

function chatReply({ number, asked, said: { text, finish }, calls, input, output }: Turn): object {
  const toolCalls = calls.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: written(args) },
  }))
  return {
    id: `chatcmpl-${number}`,
    object: 'chat.completion',
    created: 1,
    model: asked.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text ?? null,
          refusal: null,
          annotations: [],
          ...(calls.length === 0 ? {} : { tool_calls: toolCalls }),
        },
        finish_reason: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
      },
    ],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  }
}
