/** The most lines that are looked at before an upload; the gateway checks every line. */
const MOST_LINES = 1000

export interface FileCheck {
  /** The lines that were looked at. */
  readonly lines: number
  /** Whether there are more. */
  readonly more: boolean
  /** The address that its first request names. */
  readonly endpoint: string | undefined
  /** The first line that is wrong. */
  readonly mistake: { readonly line: number; readonly message: string } | undefined
}

/** Looks for what is plainly wrong with a file of requests, as the gateway would say it. */
export async function checkFile(file: Blob): Promise<FileCheck> {
  let endpoint: string | undefined
  let lines = 0
  const ids = new Set<string>()
  for await (const { line, text } of linesOf(file)) {
    if (lines === MOST_LINES) return { lines, more: true, endpoint, mistake: undefined }
    if (text.trim() === '') continue
    lines += 1
    const read = readLine(text)
    endpoint ??= read.url
    const message = read.mistake ?? mistakeIn(read, ids, endpoint)
    if (message !== undefined) return { lines, more: false, endpoint, mistake: { line, message } }
  }
  const mistake = lines === 0 ? { line: 1, message: 'There is no request in the file.' } : undefined
  return { lines, more: false, endpoint, mistake }
}

interface ReadLine {
  readonly mistake?: string
  readonly url?: string
  readonly request?: Readonly<Record<string, unknown>>
}

function readLine(text: string): ReadLine {
  try {
    const request: unknown = JSON.parse(text)
    if (!isMap(request)) return { mistake: 'It is not a JSON object.' }
    return { request, ...(typeof request.url === 'string' ? { url: request.url } : {}) }
  } catch {
    return { mistake: 'It is not valid JSON: each line is one request.' }
  }
}

function mistakeIn({ request = {} }: ReadLine, ids: Set<string>, endpoint: string | undefined): string | undefined {
  const { custom_id: id, method, url, body } = request
  if (typeof id !== 'string' || id === '') return 'It has no custom_id.'
  if (ids.has(id)) return `A line before has the custom_id ${id} too.`
  ids.add(id)
  if (method !== 'POST') return 'Its method is not POST.'
  if (typeof url !== 'string') return 'It has no url.'
  if (url !== endpoint) return `Its url is ${url}, and that of the first request is ${endpoint}.`
  if (!isMap(body)) return 'It has no body.'
  if (typeof body.model !== 'string' || body.model === '') return 'Its body has no model.'
  if (body.stream === true) return 'Its body asks for a stream, which a batch cannot give.'
  return undefined
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The lines of a file, from 1, read piece by piece. */
async function* linesOf(file: Blob): AsyncGenerator<{ readonly line: number; readonly text: string }> {
  const reader = file.stream().getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let line = 0
  try {
    for (;;) {
      const { value, done } = await reader.read()
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
      const texts = rest.split('\n')
      rest = done ? '' : (texts.pop() ?? '')
      for (const text of texts) yield { line: ++line, text }
      if (done) return
    }
  } finally {
    void reader.cancel()
  }
}
