import { setTimeout as wait } from 'node:timers/promises'
import type { Upstream } from '../scripted-upstream.ts'
import { answer, badRequest } from '../upstream/index.ts'
import { askOf } from './demo-data.ts'

const LLAMA = 'accounts/fireworks/models/llama-v3p3-70b-instruct'

/** What the demo's server of tools offers. */
export const DEMO_TOOLS = {
  search_orders: ({ message }: Readonly<Record<string, unknown>>) => ({
    content: [{ type: 'text', text: `No order is like “${message}”.` }],
  }),
  refund_order: () => ({ content: [{ type: 'text', text: 'Refunds need a person.' }], isError: true }),
}

/** A group with versions of its policy and a draft, a server of tools, and two batches that have ended: one with a failed
 *  request, one with mistakes in its file. */
export async function fillRouting(url: string, upstream: Upstream, toolServer: string): Promise<void> {
  const ask = askOf(url)
  const members = [
    { model_name: 'claude-opus', weight: 3 },
    { model_name: 'gpt-5-mini', weight: 1 },
  ]
  await ask('POST', '/ui/api/route-groups', { name: 'assistant', members })
  const policy = '/ui/api/route-groups/assistant/policy'
  for (const draft of [{ num_retries: 2 }, { num_retries: 2, timeout: 20 }]) {
    await ask('PUT', `${policy}/draft`, draft)
    await ask('POST', `${policy}/publish`)
  }
  await ask('PUT', `${policy}/draft`, { routing_strategy: 'latency-based-routing', num_retries: 2, timeout: 20 })
  const server = { server_key: 'orders', base_url: `${toolServer}/mcp/orders`, allow_private: true }
  await ask('POST', '/ui/api/mcp-servers', server)

  const key = String((await ask('POST', '/ui/api/keys', { key_name: 'night-jobs', team_id: 'eval' })).key)
  upstream.script('llama-70b', [badRequest(), answer()])
  const ended = [
    await startBatch(url, key, [batchLine('first', 'echo'), batchLine('second', LLAMA)]),
    await startBatch(url, key, [batchLine('first', 'echo'), '{"custom_id":"second","method":"GET"}']),
  ]
  for (const id of ended) {
    while ((await ask<{ ended_at: string | null }>('GET', `/ui/api/batches/${id}`)).ended_at === null) await wait(50)
  }
}

export const batchLine = (custom_id: string, model: string) => {
  const body = { model, messages: [{ role: 'user', content: 'Translate the catalogue.' }] }
  return JSON.stringify({ custom_id, method: 'POST', url: '/v1/chat/completions', body })
}

/** Uploads lines, and has them run with a key; resolves with the batch's id. */
export async function startBatch(url: string, key: string, lines: readonly string[]): Promise<string> {
  const ask = askOf(url)
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new File([lines.join('\n')], 'catalogue.jsonl'))
  const { id: input_file_id } = await ask('POST', '/v1/files', form, key)
  const batch = { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' }
  return String((await ask('POST', '/v1/batches', batch, key)).id)
}
