import { errors, Redis } from '@upstash/redis/cloudflare'
import { RedisRefusal, type RedisStoreOptions, redisStore, type SendCommand } from './redis-store.ts'
import { type SendCommands, sentTogether } from './sent-together.ts'
import type { SharedStore } from './shared-store.ts'
import { StoreUnavailable } from './store-unavailable.ts'

export interface UpstashOptions extends Pick<RedisStoreOptions, 'prefix' | 'now'> {
  /** Address and token of the REST interface. */
  readonly url: string
  readonly token: string
  /** The time after which a request is aborted and its connection freed. Absent on Workers, where requests end with
   *  their invocation. `guarded` has the deadlines of calls. */
  readonly timeoutMs?: number
  /** Upstash runs a script under a lock on its keys only when the script asks for it, in a line that plain Redis
   *  refuses. Default: by the address. */
  readonly keyLocking?: boolean
}

/** The shared store in Redis over HTTP, for runtimes without sockets. */
export function upstashStore(options: UpstashOptions): SharedStore {
  const { url, keyLocking = new URL(url).hostname.endsWith('.upstash.io') } = options
  const { one, many } = upstashSend(options)
  return redisStore(one, {
    ...options,
    sendSettlement: sentTogether(one, many),
    ...(keyLocking ? { scriptHeader: '#!lua flags=allow-key-locking\n' } : {}),
  })
}

function upstashSend({ url, token, timeoutMs }: UpstashOptions): {
  readonly one: SendCommand
  readonly many: SendCommands
} {
  const redis = new Redis({
    url,
    token,
    responseEncoding: false,
    automaticDeserialization: false,
    enableAutoPipelining: false,
    enableTelemetry: false,
    readYourWrites: false,
    // `retry: false` still sends twice.
    retry: { retries: 0 },
    // The client needs a new signal for each request; a shared one would turn an abort into an answer.
    ...(timeoutMs === undefined ? {} : { signal: () => AbortSignal.timeout(timeoutMs) }),
  })
  return {
    async one(command) {
      try {
        return await redis.exec([...command] as [string, ...string[]])
      } catch (error) {
        throw withoutCommand(error)
      }
    },
    async many(commands) {
      const pipeline = redis.pipeline()
      for (const [, script, count, ...rest] of commands) {
        const keys = Number(count)
        pipeline.evalsha(script as string, rest.slice(0, keys), rest.slice(keys))
      }
      try {
        const replies = await pipeline.exec({ keepErrors: true })
        return replies.map(({ result, error }) => (error === undefined ? result : new RedisRefusal(error)))
      } catch (error) {
        throw withoutCommand(error)
      }
    },
  }
}

/** Replaces the client's errors, which contain the whole command. */
function withoutCommand(error: unknown): Error {
  if (error instanceof errors.UpstashJSONParseError) return new StoreUnavailable('nonsense')
  if (error instanceof errors.UpstashError) return new RedisRefusal(error.message)
  if (!(error instanceof Error)) return new StoreUnavailable('unreachable')
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return new StoreUnavailable('timeout')
  return new StoreUnavailable(error.message === 'Request did not return a result' ? 'nonsense' : 'unreachable')
}
