import { responsesDialect } from '../../src/api/dialects/responses.ts'
import { chat } from '../../src/modes/chat.ts'
import { asMode } from '../../src/modes/mode.ts'
import type { Endpoint } from '../../src/pipeline/endpoint.ts'
import { budgetedCalls } from './budgeted-calls.ts'
import type { ScriptedReply } from './model-replies.ts'
import { scriptedModel, textResult, toolServersOf } from './tool-loops.ts'

const RESPONSES: Endpoint = {
  path: '/v1/responses',
  mode: asMode(chat),
  dialect: responsesDialect,
  errorEvent: responsesDialect.errorEvent,
}

const AWS = { aws_access_key_id: 'AKIATEST', aws_secret_access_key: 'secret', region: 'eu-west-1' }

const entry = (kind: string, id: string, priority: number) => ({
  model_name: 'm',
  deployment_id: id,
  gateway_params: {
    model: `${kind}/${id}`,
    api_base: `https://${id}.test/v1`,
    ...(kind === 'bedrock' ? AWS : { api_key: `key-of-${id}` }),
  },
  model_info: { input_cost_per_token: 0.001, output_cost_per_token: 0.01, priority, allow_foreign_ids: ['conv_1'] },
})

/** Responses and chats with managed tools at providers of different kinds. */
export function loopAt(script: Parameters<typeof scriptedModel>[0], kinds: readonly string[] = ['openai']) {
  const { transport, asked } = scriptedModel(script)
  const { toolServers, called } = toolServersOf({
    docs: {
      search: ({ q }) => textResult(`found ${q}`),
      wrong: () => textResult('no such page', true),
      look: () => ({ content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }], isError: false }),
    },
  })
  const calls = budgetedCalls(
    {
      router_settings: { routing_strategy: 'priority-based-routing', cooldown_time: 0, num_retries: 1 },
      gateway_settings: { mcp_servers: [{ server_key: 'docs', base_url: 'http://docs.test/mcp' }] },
      model_list: kinds.map((kind, index) => entry(kind, `place${index}`, index)),
    },
    { transport, toolServers },
  )
  const from = calls.caller({ key: { max_budget: 1000 } })
  const ask = async (body: object = {}, endpoint = RESPONSES) => {
    const { status, text, ...rest } = await calls.ask(
      from,
      { input: 'Hi', tools: [{ type: 'mcp', server_label: 'docs', require_approval: 'never' }], ...body },
      {},
      endpoint,
    )
    await calls.idle()
    return { status, text, ...rest, body: status === 200 ? JSON.parse(text) : undefined }
  }
  return { ...calls, asked, called, ask }
}

export const CALLED: ScriptedReply = {
  calls: [
    ['docs__search', { q: 'a' }],
    ['docs__wrong', {}],
  ],
  thought: 'I look it up.',
  text: 'Wait.',
}
export const DONE: ScriptedReply = { text: 'Done.', input: 200, output: 5 }
