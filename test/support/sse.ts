/** One event of a stream, with the time since the reading began at which its last byte arrived. */
export interface ReceivedEvent {
  /** The `event:` line, '' when there is none. */
  readonly event: string
  readonly data: string
  readonly atMs: number
}

export interface ReceivedStream {
  readonly events: readonly ReceivedEvent[]
  readonly comments: readonly { readonly text: string; readonly atMs: number }[]
  /** Every byte as it came. */
  readonly text: string
  /** How many pieces the body came in. */
  readonly pieces: number
  /** What came behind the last blank line: '' when every event was whole. */
  readonly rest: string
  /** Why the body did not end properly, when it did not. */
  readonly broken: Error | undefined
  readonly endedAtMs: number
}

/** Reads a streamed answer to its end, as the standard for server-sent events has it. `leaveAfter` leaves after that many
 *  events, as a client does that closes the page. */
export async function readStream(
  response: Response,
  { leaveAfter = Number.POSITIVE_INFINITY } = {},
): Promise<ReceivedStream> {
  const started = performance.now()
  const events: ReceivedEvent[] = []
  const comments: { text: string; atMs: number }[] = []
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const reader = response.body?.getReader()
  let text = ''
  let rest = ''
  let pieces = 0
  let broken: Error | undefined
  try {
    while (reader && events.length < leaveAfter) {
      const { done, value } = await reader.read()
      const piece = decoder.decode(value, { stream: !done })
      const atMs = performance.now() - started
      text += piece
      rest += piece
      if (value) pieces++
      const blocks = done ? rest.split(BLANK_LINE) : rest.replace(/\r$/, HELD).split(BLANK_LINE)
      rest = (blocks.pop() ?? '').replace(HELD, '\r')
      for (const block of blocks) {
        const { event, data, spoken } = readBlock(block)
        for (const comment of spoken) comments.push({ text: comment, atMs })
        if (data !== undefined) events.push({ event, data, atMs })
      }
      if (done) break
    }
    await reader?.cancel()
  } catch (error) {
    broken = error instanceof Error ? error : new Error(String(error))
  }
  return { events, comments, text, pieces, rest, broken, endedAtMs: performance.now() - started }
}

/** The words of a chat stream of the OpenAI shape, joined; choice 0. */
export function spokenText(stream: Pick<ReceivedStream, 'events'>): string {
  return chunksOf(stream)
    .map(
      (chunk) => (chunk as { choices?: { delta?: { content?: string | null } }[] }).choices?.[0]?.delta?.content ?? '',
    )
    .join('')
}

/** The JSON of every event but `[DONE]`. */
export function chunksOf(stream: Pick<ReceivedStream, 'events'>): unknown[] {
  return stream.events.filter((event) => event.data !== '[DONE]').map((event) => JSON.parse(event.data))
}

const LINE_END = /\r\n|\r|\n/
const BLANK_LINE = /(?:\r\n|\r(?!\n)|\n)(?:\r\n|\r(?!\n)|\n)/
/** Stands for a \r at the very end of what has come, which may yet turn out to be half of a line end. */
const HELD = '\u{10FFFF}'

function readBlock(block: string) {
  const data: string[] = []
  const spoken: string[] = []
  let event = ''
  for (const line of block.split(LINE_END)) {
    if (line.startsWith(':')) spoken.push(line.slice(1).trimStart())
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
    else if (line.startsWith('event:')) event = line.slice(6).replace(/^ /, '')
  }
  return { event, data: data.length === 0 ? undefined : data.join('\n'), spoken }
}
