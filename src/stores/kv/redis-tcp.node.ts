import { createClient, ErrorReply } from '@redis/client'
import { RedisRefusal, type RedisStoreOptions, redisStore } from './redis-store.ts'
import { type SharedStore, StoreUnavailable } from './shared-store.ts'

export interface RedisTcpOptions extends Pick<RedisStoreOptions, 'prefix' | 'now'> {
  /** `redis://[user:password@]host[:port][/database]`, `rediss://…` for TLS. */
  readonly url: string
  /** A connection without an expected answer for this time is replaced. Calls have shorter deadlines of their own. */
  readonly timeoutMs?: number
}

const MOST_PENDING = 10_000
const FIRST_CONNECTION_MS = 1000
const TICKS = 4
/** The client reconnects itself, except if a server accepts a connection and never answers. */
const OFFLINE_TICKS = 20

/** The shared store in Redis over one TCP connection. Commands of one turn of the event loop share a packet; while
 *  there is no connection they fail at once, and it is rebuilt in the background. */
export function redisTcpStore({ url, timeoutMs = 2000, ...options }: RedisTcpOptions): SharedStore {
  let pending = 0
  let silentTicks = 0
  let offlineTicks = 0
  let closed = false
  let client = connect(url)

  // The first calls of a process wait for the first attempt to connect.
  let connecting: Promise<void> | undefined = new Promise<void>((resolve) => {
    setTimeout(resolve, FIRST_CONNECTION_MS).unref()
    client.once('ready', resolve).once('error', () => resolve())
  }).then(() => {
    connecting = undefined
  })

  // A peer that vanished without a word keeps a connection looking alive for minutes. Ticks, not time: after a pause of
  // this process the answers may be there, unread.
  const watchdog = setInterval(() => {
    silentTicks = pending === 0 ? 0 : silentTicks + 1
    offlineTicks = client.isReady ? 0 : offlineTicks + 1
    if (silentTicks <= TICKS && offlineTicks <= OFFLINE_TICKS) return
    silentTicks = 0
    offlineTicks = 0
    const dead = client
    client = connect(url)
    dead.destroy()
  }, timeoutMs / TICKS)
  watchdog.unref()

  async function send(command: readonly string[]): Promise<unknown> {
    if (connecting) await connecting
    if (closed) throw new StoreUnavailable('unreachable')
    pending += 1
    try {
      return await client.sendCommand(command)
    } catch (error) {
      // The client's own errors may name the address.
      throw error instanceof ErrorReply ? new RedisRefusal(error.message) : new StoreUnavailable('unreachable')
    } finally {
      pending -= 1
      silentTicks = 0
    }
  }

  return redisStore(send, {
    ...options,
    close: async () => {
      if (closed) return
      closed = true
      clearInterval(watchdog)
      client.destroy()
    },
  })
}

function connect(url: string) {
  const client = createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MOST_PENDING,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // A timer for every command; the watchdog needs one for all.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: 2000, reconnectStrategy: (retries) => Math.min(50 * 2 ** Math.min(retries, 10), 1000) },
  })
  // Failed commands report the error themselves.
  client.on('error', () => {})
  client.connect().catch(() => {})
  return client
}
