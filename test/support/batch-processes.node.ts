import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { GatewayProcess } from '../runtimes/node/gateway-process.ts'

/** A batch whose requests say `r-0`, `r-1` … of the model m. Resolves with its id. */
export async function makeBatch(gateway: GatewayProcess, requests: number): Promise<string> {
  const lines = Array.from({ length: requests }, (_, at) =>
    JSON.stringify({
      custom_id: `r-${at}`,
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'm', messages: [{ role: 'user', content: `r-${at}` }] },
    }),
  )
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new Blob([`${lines.join('\n')}\n`]), 'in.jsonl')
  const file = await (await gateway.fetch('/v1/files', { method: 'POST', body: form })).json()
  const made = await gateway.fetch('/v1/batches', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' }),
  })
  const { id } = await made.json()
  if (made.status !== 200) throw new Error(`the batch was refused with ${made.status}`)
  return id
}

/** The batch once it has ended. */
export async function ended(gateway: GatewayProcess, id: string) {
  const deadline = Date.now() + 120_000
  for (;;) {
    const batch = await (await gateway.fetch(`/v1/batches/${id}`)).json()
    if (!['validating', 'in_progress', 'finalizing'].includes(batch.status)) return batch
    if (Date.now() > deadline) throw new Error(`it does not end: ${JSON.stringify(batch)}`)
    await wait(100)
  }
}

/** A provider that notes what it is asked as soon as it is asked, and answers after `answerMs`; a path that it is told to
 *  leave alone is never answered. */
export async function startUpstream(answerMs: number) {
  let asked: string[] = []
  let paths: string[] = []
  let unanswered = 0
  const silent = new Set<string>()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request.setEncoding('utf8')) body += piece
    const text: string = JSON.parse(body).messages[0].content
    asked.push(text)
    const path = request.url?.split('/')[1] ?? ''
    paths.push(path)
    await wait(answerMs)
    if (silent.has(path)) {
      unanswered += 1
      return
    }
    const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get asked() {
      return asked
    },
    /** The first part of the path of each call. */
    get paths() {
      return paths
    },
    silent,
    /** How many calls will never be answered. */
    get unanswered() {
      return unanswered
    },
    reset() {
      asked = []
      paths = []
      unanswered = 0
      silent.clear()
    },
    /** Until so many calls have arrived. */
    async until(calls: number) {
      const deadline = Date.now() + 90_000
      while (asked.length < calls) {
        if (Date.now() > deadline) throw new Error(`${asked.length} of ${calls} calls came`)
        await wait(2)
      }
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
