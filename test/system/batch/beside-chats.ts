import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type GatewayProcess, place, SOURCES } from '../../runtimes/node/gateway-process.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { startPostgres } from '../../support/postgres.ts'

// What single chat calls wait beside a large batch, how fast the batch is without them, and what an item costs beside a
// call, with a provider that answers in 20 ms:
//   node test/system/batch/beside-chats.ts [requests of the batch, 50000] [rounds, 3]
const PROVIDER_MS = 20
const ROUND_MS = 10_000
const AT_ONCE = 16

type Task = { readonly kind: 'provider' } | { readonly kind: 'chats'; readonly url: string; readonly atOnce: number }

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello to you' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
})

/** Answers every request after the same time. Resolves with its port. */
async function provide(): Promise<number> {
  const server = createServer((request, response) => {
    request.resume()
    request.once('end', () =>
      setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER), PROVIDER_MS),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** The times of calls that are made one after the other, in so many lines. Other answers than 200 throw. */
async function chats(url: string, atOnce: number): Promise<number[]> {
  const times: number[] = []
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${MASTER_KEY}` }
  const end = performance.now() + ROUND_MS
  const line = async () => {
    while (performance.now() < end) {
      const began = performance.now()
      const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`a chat call was answered ${response.status}`)
      times.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, line))
  return times
}

function inThread<Result>(task: Task): Promise<Result> {
  const thread = new Worker(new URL(import.meta.url), { workerData: task })
  thread.unref()
  return new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject))
}

/** The seconds of CPU that a process has used, and its resident bytes. */
function used({ pid }: GatewayProcess): { readonly cpu: number; readonly resident: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, resident: 4096 * Number(fields[21]) }
}

const median = (times: readonly number[], share = 0.5) =>
  times.toSorted((one, other) => one - other)[Math.floor(share * times.length)] ?? Number.NaN

const say = (text: string) => process.stdout.write(`${text}\n`)

async function measure(): Promise<void> {
  const [requests = 50_000, rounds = 3] = process.argv.slice(2).map(Number)
  const database = await startPostgres()
  if (!database) throw new Error('this needs PostgreSQL')
  const port = await inThread<number>({ kind: 'provider' })
  const home = await place(SOURCES)
  try {
    const gateway = await home.start({
      yaml: `
general_settings: { embeddings_batch_enabled: true, log_level: warn, database_url: '${database.url}' }
model_list: [{ model_name: m, gateway_params: { model: openai-compatible/m, api_base: 'http://127.0.0.1:${port}', api_key: k } }]
`,
      env: { GATEWAY_SALT_KEY: 'a salt key that is long enough to be one' },
    })
    await gateway.greeted()
    const url = await gateway.base()
    const authorization = `Bearer ${MASTER_KEY}`
    const ask = async (path: string, init: RequestInit = {}) =>
      (await fetch(url + path, { ...init, headers: { authorization, ...init.headers } })).json()

    const line = (at: number) =>
      `{"custom_id":"r${at}","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"Hello"}]}}\n`
    const form = new FormData()
    form.append('purpose', 'batch')
    form.append('file', new Blob([Array.from({ length: requests }, (_, at) => line(at)).join('')]), 'in.jsonl')
    const file = (await ask('/v1/files', { method: 'POST', body: form })) as { id: string }
    const single = () => inThread<number[]>({ kind: 'chats', url, atOnce: 1 })
    await single()

    const before = used(gateway)
    const calls = (await inThread<number[]>({ kind: 'chats', url, atOnce: AT_ONCE })).length
    const cpuOfCall = (1000 * (used(gateway).cpu - before.cpu)) / calls
    const aloneFirst = await single()

    const body = JSON.stringify({ input_file_id: file.id, endpoint: '/v1/chat/completions' })
    const headers = { 'content-type': 'application/json' }
    const { id } = (await ask('/v1/batches', { method: 'POST', body, headers })) as { id: string }
    const state = async () =>
      (await ask(`/v1/batches/${id}`)) as { status: string; request_counts: { completed: number; failed: number } }
    while ((await state()).status === 'validating') await wait(100)

    let resident = 0
    const watch = setInterval(() => {
      resident = Math.max(resident, used(gateway).resident)
    }, 100)
    for (let round = 1; round <= rounds; round++) {
      const begun = await state()
      const beside = await single()
      const done = (await state()).request_counts.completed - begun.request_counts.completed
      say(
        `round ${round}: p50 of a chat call ${median(aloneFirst).toFixed(2)} ms alone, ${median(beside).toFixed(2)} beside the batch (× ${(median(beside) / median(aloneFirst)).toFixed(2)}), p99 ${median(aloneFirst, 0.99).toFixed(1)} and ${median(beside, 0.99).toFixed(1)}; ${Math.round((1000 * done) / ROUND_MS)} items a second meanwhile`,
      )
    }
    await wait(1500)
    const [from, cpu, at] = [await state(), used(gateway).cpu, performance.now()]
    let now = from
    while (now.status === 'in_progress' && now.request_counts.completed < requests) {
      await wait(500)
      now = await state()
    }
    const items = now.request_counts.completed - from.request_counts.completed
    const seconds = (performance.now() - at) / 1000
    const cpuOfItem = (1000 * (used(gateway).cpu - cpu)) / items
    say(
      `the batch alone: ${Math.round(items / seconds)} items a second, ${cpuOfItem.toFixed(2)} ms of CPU an item, ${cpuOfCall.toFixed(2)} a call (× ${(cpuOfItem / cpuOfCall).toFixed(2)})`,
    )
    const finishing = performance.now()
    for (; now.status === 'in_progress' || now.status === 'finalizing'; now = await state()) await wait(50)
    clearInterval(watch)
    say(
      `${now.status}: ${JSON.stringify(now.request_counts)}, files written in ${((performance.now() - finishing) / 1000).toFixed(1)} s, ${Math.round(resident / 1_048_576)} MiB resident at most`,
    )
  } finally {
    await home.clear()
    await database.stop()
  }
}

async function perform(task: Task): Promise<void> {
  parentPort?.postMessage(task.kind === 'provider' ? await provide() : await chats(task.url, task.atOnce))
}

await (isMainThread ? measure() : perform(workerData as Task))
