import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

type Json = Record<string, unknown>

export interface ResponsesAccounts {
  /** Of the API, with its version. */
  readonly url: string
  /** What was asked, and with which credential. */
  readonly asked: readonly { readonly account: string; readonly body: Json; readonly status: number }[]
  /** Whether an account answers 500 to everything. */
  readonly down: Set<string>
  close(): Promise<void>
}

/** The Responses API as its vendor serves it, beside a chat that answers everything, with a memory for each credential: what one account keeps is unknown to all
 *  others. Reasoning without its encrypted content, references and earlier responses are looked up; the rest is taken as
 *  it was sent. */
export async function startResponsesAccounts(): Promise<ResponsesAccounts> {
  const kept = new Map<string, Set<string>>()
  const asked: { account: string; body: Json; status: number }[] = []
  const down = new Set<string>()

  const server = createServer(async (request, response) => {
    const account = String(request.headers.authorization).replace('Bearer ', '')
    const body = JSON.parse(await textOf(request)) as Json
    if (request.url?.endsWith('/chat/completions')) {
      asked.push({ account, body, status: 200 })
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify(completion))
    }
    const known = kept.get(account) ?? new Set<string>()
    kept.set(account, known)
    const missing = down.has(account) ? undefined : absentIn(body, known)
    const status = down.has(account) ? 500 : missing ? 404 : 200
    asked.push({ account, body, status })
    if (status !== 200) {
      response.writeHead(status, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ error: missing ?? { message: 'Down.', type: 'server_error' } }))
    }
    const made = answerTo(body, account)
    if (body.store !== false) for (const id of [made.id, ...made.output.map((item) => item.id)]) known.add(String(id))
    if (body.stream !== true) {
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify(made))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const text of eventsOf(made)) response.write(text)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    down,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

const completion = {
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += piece
  return text
}

const notFound = (message: string, param: string, code: string | null = null) => ({
  message,
  type: 'invalid_request_error',
  param,
  code,
})

/** The vendor's error for the first thing that it cannot find. */
function absentIn({ previous_response_id: previous, input }: Json, known: Set<string>): object | undefined {
  if (typeof previous === 'string' && !known.has(previous)) {
    const message = `Previous response with id '${previous}' not found.`
    return notFound(message, 'previous_response_id', 'previous_response_not_found')
  }
  for (const item of Array.isArray(input) ? (input as Json[]) : []) {
    const looked = item.type === 'item_reference' || (item.type === 'reasoning' && !item.encrypted_content)
    if (looked && !known.has(String(item.id))) return notFound(`Item with id '${item.id}' not found.`, 'input')
  }
  return undefined
}

function answerTo({ input, model }: Json, account: string) {
  const id = (kind: string) => `${kind}_${randomBytes(24).toString('hex')}`
  const text = `${account} read ${Array.isArray(input) ? input.length : 1}`
  return {
    id: id('resp'),
    object: 'response',
    created_at: 1_760_000_000,
    status: 'completed',
    model,
    output: [
      { id: id('rs'), type: 'reasoning', summary: [] },
      {
        id: id('msg'),
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ] as Json[],
    error: null,
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  }
}

function eventsOf(made: ReturnType<typeof answerTo>): string[] {
  const begun = { ...made, status: 'in_progress', output: [], usage: null }
  const events: Json[] = [{ type: 'response.created', response: begun }]
  for (const [output_index, item] of made.output.entries()) {
    const at = { item_id: item.id, output_index, content_index: 0 }
    events.push({ type: 'response.output_item.added', output_index, item: { ...item, content: [] } })
    for (const part of (item.content ?? []) as Json[]) {
      events.push({ type: 'response.content_part.added', ...at, part: { ...part, text: '' } })
      events.push({ type: 'response.output_text.delta', ...at, delta: part.text })
      events.push({ type: 'response.output_text.done', ...at, text: part.text })
      events.push({ type: 'response.content_part.done', ...at, part })
    }
    events.push({ type: 'response.output_item.done', output_index, item })
  }
  events.push({ type: 'response.completed', response: made })
  return events.map((event, sequence_number) => {
    const data = JSON.stringify({ ...event, sequence_number })
    return `event: ${event.type}\ndata: ${data}\n\n`
  })
}
