import { type Abort, newAbort } from '../../src/lib/abort.ts'
import type { GatewayError } from '../../src/lib/errors.ts'
import type { JsonRecord } from '../../src/lib/json/lenient.ts'
import type { Tool, ToolResult, ToolServers } from '../../src/mcp/tool-servers.ts'
import type { Transport, UpstreamRequest } from '../../src/transport/transport.ts'
import { wholeBody } from '../../src/transport/whole-body.ts'
import { budgetedCalls, placed } from './budgeted-calls.ts'
import { type AskedModel, replyTo, type ScriptedReply } from './model-replies.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const nothing = { read: async () => undefined, bytes: async () => new Uint8Array(), cancel() {} }

/** A provider that answers the n-th request as told, in the shape of the API that it was asked by. The last answer
 *  repeats. */
export function scriptedModel(script: readonly ScriptedReply[] | ((asked: AskedModel, turn: number) => ScriptedReply)) {
  const asked: AskedModel[] = []
  const transport: Transport = {
    async send({ origin, path, body: sent }: UpstreamRequest, signal: Abort) {
      const bytes = wholeBody(sent as never)
      const request = { origin, path, body: JSON.parse(typeof bytes === 'string' ? bytes : decoder.decode(bytes)) }
      const turn = asked.push(request)
      const said =
        typeof script === 'function'
          ? script(request, turn)
          : (script[Math.min(turn, script.length) - 1] as ScriptedReply)
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
  script: readonly ScriptedReply[] | Parameters<typeof scriptedModel>[0],
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
