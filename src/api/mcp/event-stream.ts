import { atMost } from '../../lib/timers/at-most.ts'
import type { ToolProgress } from '../../mcp/tool-servers.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { KEEP_ALIVE } from '../../pipeline/respond/keep-alive.ts'
import { EVENT_STREAM } from '../../pipeline/respond/respond.ts'
import type { Scope } from '../scope.ts'
import type { RpcId } from './json-rpc.ts'

/** How long a client may take for its answer once it is there. */
const LAST_WRITE_MS = 30_000

/** How many notifications may wait for a client. Further ones are dropped: each one supersedes those before. */
const MOST_WAITING = 100

const encoder = new TextEncoder()
const eventOf = (message: object) => encoder.encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`)

/** Answers a request as a stream: notifications of its progress, then its answer. The stream opens at once. */
export function answerAsEvents(
  { client, services }: Scope,
  progressToken: RpcId | undefined,
  answering: (progress: (told: ToolProgress) => void) => Promise<object>,
): Answer {
  const stream = client.openStream()
  let waiting = 0
  let writing = Promise.resolve()
  const send = (bytes: Uint8Array) => {
    waiting += 1
    writing = writing
      .then(() => stream.write(bytes))
      .finally(() => {
        waiting -= 1
      })
    writing.catch(() => {})
  }
  const progress = (told: ToolProgress) => {
    if (progressToken === undefined || waiting >= MOST_WAITING) return
    send(eventOf({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, ...told } }))
  }
  const comments = setInterval(() => {
    if (waiting === 0) send(KEEP_ALIVE)
  }, 1000 * services.config.router_settings.stream_keep_alive)
  const answered = answering(progress)
    .finally(() => clearInterval(comments))
    .then(async (answer) => {
      send(eventOf(answer))
      if (!(await atMost(LAST_WRITE_MS, writing))) return stream.abort()
      await stream.close()
    })
    .catch(() => stream.abort())
  client.defer(answered)
  return { status: 200, headers: { ...EVENT_STREAM }, body: stream.readable }
}
