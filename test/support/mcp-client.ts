/** The answer to one request, as it came. */
export interface RpcAnswer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  readonly body: any
}

export const JSON_AND_EVENTS = 'application/json, text/event-stream'

/** Sends a body to an MCP server by hand, where the official client would not let it be sent as it is. */
export async function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<RpcAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: JSON_AND_EVENTS, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal ? { signal } : {}),
  })
  const text = await response.text()
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream')
  return { status: response.status, headers: response.headers, body: isEvents ? eventsIn(text) : parsed(text) }
}

/** The messages of a stream of events. */
function eventsIn(text: string): unknown[] {
  return text
    .split('\n\n')
    .flatMap((event) => event.split('\n').filter((line) => line.startsWith('data: ')))
    .map((line) => JSON.parse(line.slice(6)))
}

function parsed(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text)
}

export const request = (id: string | number, method: string, params?: object) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params ? { params } : {}),
})

export const call = (id: string | number, name: string, args: object = {}, more: object = {}) =>
  request(id, 'tools/call', { name, arguments: args, ...more })
