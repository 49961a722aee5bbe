import { type Abort, newAbort } from '../../src/lib/abort.ts'
import type { GatewayError } from '../../src/lib/errors.ts'
import type { JsonRecord } from '../../src/lib/json/lenient.ts'
import type { Tool, ToolResult, ToolServers } from '../../src/mcp/tool-servers.ts'
import type { Transport, UpstreamRequest } from '../../src/transport/transport.ts'
import { wholeBody } from '../../src/transport/whole-body.ts'
import { budgetedCalls, placed } from './budgeted-calls.ts'

/** What a model answers in a turn: calls, or a text, or what a provider refuses it with. */
export interface Said {
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

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const nothing = { read: async () => undefined, bytes: async () => new Uint8Array(), cancel() {} }

/** A provider that answers the n-th request as told, in the shape of the API that it was asked by. The last answer
 *  repeats. */
export function scriptedModel(script: readonly Said[] | ((asked: AskedModel, turn: number) => Said)) {
  const asked: AskedModel[] = []
  const transport: Transport = {
    async send({ origin, path, body: sent }: UpstreamRequest, signal: Abort) {
      const bytes = wholeBody(sent as never)
      const request = { origin, path, body: JSON.parse(typeof bytes === 'string' ? bytes : decoder.decode(bytes)) }
      const turn = asked.push(request)
      const said =
        typeof script === 'function' ? script(request, turn) : (script[Math.min(turn, script.length) - 1] as Said)
      if (said.ms !== undefined) {
        await new Promise((resolve, reject) => {
          const timer = setTimeout(resolve, said.ms)
          signal.addEventListener('abort', () => {
            clearTimeout(timer)
            reject(signal.reason)
          })
        })
      }
      const reply = said.status ? (said.error ?? { error: { message: 'no' } }) : replyTo(request, said, turn)
      const text = encoder.encode(JSON.stringify(reply))
      const headers = { 'content-type': 'application/json' }
      return { status: said.status ?? 200, headers, body: { ...nothing, bytes: async () => text } }
    },
  }
  return { transport, asked }
}

function replyTo({ path, body }: AskedModel, said: Said, turn: number): object {
  const { custom, text, finish, input = 100, output = 10 } = said
  const isNative = path.endsWith('/responses')
  const patched = custom === undefined || isNative ? [] : [['docs__patch', { input: custom }] as const]
  const calls = [...(said.calls ?? []), ...patched]
  const ids = calls.map((_, index) => `call_${turn}_${index + 1}`)
  const written = (args: unknown) => (typeof args === 'string' ? args : JSON.stringify(args))
  if (isNative) {
    return {
      id: `resp_${turn}`,
      object: 'response',
      created_at: 1,
      status: finish ?? 'completed',
      model: body.model,
      output: [
        ...(said.thought === undefined
          ? []
          : [{ id: `rs_${turn}`, type: 'reasoning', summary: [{ type: 'summary_text', text: said.thought }] }]),
        ...(text === undefined
          ? []
          : [
              {
                ...{ id: `msg_${turn}`, type: 'message', role: 'assistant', status: 'completed' },
                content: [{ type: 'output_text', text, annotations: [] }],
              },
            ]),
        ...calls.map(([name, args], index) => ({
          ...{ id: `fc_${turn}_${index + 1}`, type: 'function_call', status: 'completed', call_id: ids[index], name },
          arguments: written(args),
        })),
        ...(custom === undefined
          ? []
          : [{ id: `ctc_${turn}`, type: 'custom_tool_call', call_id: 'call_c', name: 'docs__patch', input: custom }]),
      ],
      tools: body.tools ?? [],
      tool_choice: body.tool_choice ?? 'auto',
      usage: {
        input_tokens: input,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: input + output,
      },
    }
  }
  if (path.endsWith('/messages')) {
    return {
      id: `msg_${turn}`,
      type: 'message',
      role: 'assistant',
      model: body.model,
      content: [
        ...(text === undefined ? [] : [{ type: 'text', text }]),
        ...calls.map(([name, args], index) => ({ type: 'tool_use', id: ids[index], name, input: args })),
      ],
      stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: input, output_tokens: output },
    }
  }
  if (path.endsWith(':generateContent')) {
    const parts = [
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map(([name, args]) => ({ functionCall: { name, args } })),
    ]
    return {
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
      modelVersion: 'm',
      responseId: `r${turn}`,
    }
  }
  if (path.endsWith('/converse')) {
    const content = [
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map(([name, args], index) => ({ toolUse: { toolUseId: ids[index], name, input: args } })),
    ]
    return {
      output: { message: { role: 'assistant', content } },
      stopReason: calls.length > 0 ? 'tool_use' : 'end_turn',
      usage: { inputTokens: input, outputTokens: output, totalTokens: input + output },
      metrics: { latencyMs: 1 },
    }
  }
  return {
    id: `chatcmpl-${turn}`,
    object: 'chat.completion',
    created: 1,
    model: body.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text ?? null,
          refusal: null,
          annotations: [],
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map(([name, args], index) => ({
                  id: ids[index],
                  type: 'function',
                  function: { name, arguments: written(args) },
                })),
              }),
        },
        finish_reason: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
      },
    ],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  }
}

export type Running = (args: JsonRecord, signal: Abort) => ToolResult | Promise<ToolResult>

export const textResult = (text: string, isError = false): ToolResult => ({
  content: [{ type: 'text', text }],
  isError,
})

/** Servers of tools inside the process: a function for each tool of each server. */
export function toolServersOf(
  servers: Readonly<Record<string, Readonly<Record<string, Running>>>>,
  descriptions: Readonly<Record<string, string>> = {},
) {
  const called: { readonly server: string; readonly tool: string; readonly args: JsonRecord }[] = []
  const toolOf = (server: string, name: string): Tool => ({
    server,
    name,
    publicName: `${server}__${name}`,
    description: descriptions[name] ?? `Does ${name}.`,
    inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
    ...(name.startsWith('read') ? { annotations: { readOnlyHint: true } } : {}),
  })
  const toolServers: ToolServers = {
    gateway: 'test',
    tools: async ({ key }) => Object.keys(servers[key] ?? {}).map((name) => toolOf(key, name)),
    async call({ key }, tool, args, { signal }) {
      called.push({ server: key, tool, args })
      const run = servers[key]?.[tool]
      if (!run) throw new TypeError(`there is no ${tool}`)
      return run(args, signal)
    },
    check: () => Promise.reject(new TypeError('nobody checks here')),
    keep() {},
    end: async () => {},
  }
  return { toolServers, called }
}

const MCP_SERVERS = ['docs', 'files'].map((server_key) => ({ server_key, base_url: `http://${server_key}.test/mcp` }))
const PRICES = { input_cost_per_token: 0.001, output_cost_per_token: 0.01 }
export const managed = { type: 'mcp', server: 'docs', require_approval: 'never' }
export const own = { type: 'function', function: { name: 'mine', parameters: { type: 'object', properties: {} } } }

/** A chat with managed tools over the pipeline, whose only model and servers are scripted. */
export function toolLoop(
  script: readonly Said[] | Parameters<typeof scriptedModel>[0],
  tools: Readonly<Record<string, Running>> = { search: ({ q }) => textResult(`found ${q}`) },
  more: object = {},
  descriptions: Readonly<Record<string, string>> = {},
) {
  const { transport, asked } = scriptedModel(script)
  const servers = { docs: tools, files: { read: () => textResult('a file') } }
  const { toolServers, called } = toolServersOf(servers, descriptions)
  const calls = budgetedCalls(
    {
      router_settings: { routing_strategy: 'priority-based-routing', cooldown_time: 0, num_retries: 1 },
      gateway_settings: { mcp_servers: MCP_SERVERS },
      model_list: [placed('m', 'first', { ...PRICES, priority: 0 }), placed('m', 'second', { ...PRICES, priority: 1 })],
      ...more,
    },
    { transport, toolServers },
  )
  const from = calls.caller({ key: { max_budget: 1000 } })
  const ask = async (body: object = {}, signal = newAbort<GatewayError>()) => {
    const { status, text, ...rest } = await calls.ask(
      from,
      { max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }], tools: [managed], ...body },
      {},
      undefined,
      { signal },
    )
    await calls.idle()
    return { status, text, ...rest, body: status === 200 ? JSON.parse(text) : undefined }
  }
  return { ...calls, model: asked, called, ask, from }
}

export const messagesOf = (asked: { readonly body: { readonly messages?: readonly object[] } } | undefined) =>
  asked?.body.messages
