import { strictly, within } from './deadline.ts'
import { type RedisStoreOptions, redisStore } from './redis-store.ts'
import type { SharedStore } from './shared-store.ts'
import { StoreUnavailable } from './store-unavailable.ts'
import { commandText, evaluationText } from './tcp/command-text.node.ts'
import { redisAddress } from './tcp/redis-address.ts'
import { type RedisSession, redisSession } from './tcp/redis-session.node.ts'

export interface RedisTcpOptions extends Pick<RedisStoreOptions, 'prefix' | 'now'> {
  /** `redis://[user:password@]host[:port][/database]`, `rediss://…` for TLS. */
  readonly url: string
  /** A connection without an expected answer for this time is replaced. Calls have shorter deadlines of their own. */
  readonly timeoutMs?: number
}

/** More commands without a reply are refused. */
const MOST_PENDING = 10_000
const FIRST_CONNECTION_MS = 1000
const TICKS = 4
/** The pauses before attempts to connect, by how many before them got no answer to a command. */
const PAUSES_MS = [0, 100, 200, 400, 800, 1000]

/** The shared store in Redis over one TCP connection. Commands of one turn of the event loop share a packet; while
 *  there is no connection they fail at once, and it is rebuilt in the background. */
export function redisTcpStore({ url, timeoutMs = 2000, ...options }: RedisTcpOptions): SharedStore {
  const address = redisAddress(url)
  const { prefix = '' } = options
  let unanswered = 0
  let closed = false
  /** Why the last connection ended. */
  let lastEnd = new StoreUnavailable('unreachable')
  let reconnecting: NodeJS.Timeout | undefined

  // The first calls of a process wait for the first attempt to connect, however busy it is with its start.
  const { promise: tried, resolve: haveTried } = Promise.withResolvers<void>()
  let connecting: Promise<void> | undefined = tried.then(() => {
    connecting = undefined
  })
  within(strictly(FIRST_CONNECTION_MS), tried).catch(haveTried)

  const open = (): RedisSession =>
    redisSession(address, {
      ready: haveTried,
      ended(why) {
        lastEnd = why
        haveTried()
        if (closed) return
        // A server that refuses to sign it in answers too, but takes no command.
        unanswered = session.answered > address.greeting.length ? 0 : unanswered + 1
        const pauseMs = PAUSES_MS[Math.min(unanswered, PAUSES_MS.length - 1)]
        reconnecting = setTimeout(() => {
          session = open()
        }, pauseMs)
      },
    })
  let session = open()

  // A peer that vanished without a word keeps a connection looking alive for minutes. Ticks, not time: after a pause of
  // this process the answers may be there, unread.
  let silentTicks = 0
  let answered = 0
  const watchdog = setInterval(() => {
    silentTicks = session.pending > 0 && session.answered === answered ? silentTicks + 1 : 0
    answered = session.answered
    if (silentTicks <= TICKS) return
    silentTicks = 0
    session.end()
  }, timeoutMs / TICKS)
  watchdog.unref()

  function send(command: string): Promise<unknown> {
    if (connecting) return connecting.then(() => send(command))
    if (!session.isReady) return Promise.reject(lastEnd)
    if (closed || session.pending >= MOST_PENDING) return Promise.reject(new StoreUnavailable('unreachable'))
    return session.send(command)
  }

  return redisStore((words) => send(commandText(words)), {
    ...options,
    sendScript: (script, keys, args) => send(evaluationText(script, keys, args, prefix)),
    close: async () => {
      if (closed) return
      closed = true
      clearInterval(watchdog)
      clearTimeout(reconnecting)
      session.end()
    },
  })
}
