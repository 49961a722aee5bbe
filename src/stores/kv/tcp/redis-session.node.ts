import { connect as connectPlain, Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { RedisRefusal } from '../redis-store.ts'
import { StoreUnavailable } from '../store-unavailable.ts'
import { commandText } from './command-text.node.ts'
import type { RedisAddress } from './redis-address.ts'
import { redisTls } from './redis-tls.node.ts'
import { replyReader } from './reply-reader.node.ts'

/** For the connection, and once more for what is said first. */
const OPENING_MS = 2000
const KEEP_ALIVE_MS = 5000
/** What a server says that has become a replica and stays one, while its address may lead to the new primary by now. */
const OF_REPLICAS = ['READONLY', 'MASTERDOWN']
/** All connections are read into it, one read after the other. */
const ARRIVING = Buffer.allocUnsafeSlow(65_536)

/** A connection to Redis, from its opening to its end. */
export interface RedisSession {
  /** Whether commands may be sent. */
  readonly isReady: boolean
  /** How many commands have no reply yet, and how many have one. */
  readonly pending: number
  readonly answered: number
  /** Sends a command together with all others of the same turn of the event loop. Resolves with its reply, rejects with
   *  `RedisRefusal` if that is an error, or with `StoreUnavailable` at the end of the session. */
  send(command: string): Promise<unknown>
  end(): void
}

/** A command that waits for its reply. Replies come in the order of commands. */
interface Pending {
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: Error) => void
  next: Pending | undefined
}

export function redisSession(
  address: RedisAddress,
  told: { ready(): void; ended(why: StoreUnavailable): void },
): RedisSession {
  const { host, port, isSecure, greeting } = address
  let first: Pending | undefined
  let last: Pending | undefined
  let [pending, answered] = [0, 0]
  let outgoing = ''
  let isReady = false
  let isOver = false

  function take(reply: unknown): void {
    const asked = first
    if (!asked) {
      // A reply that nobody has asked for must not be taken for the next one.
      end()
      return
    }
    first = asked.next
    if (!first) last = undefined
    // One that is no longer young would keep all that follow it alive until the whole heap is collected.
    asked.next = undefined
    pending -= 1
    answered += 1
    if (reply instanceof RedisRefusal) asked.reject(reply)
    else asked.resolve(reply)
    if (reply instanceof RedisRefusal && OF_REPLICAS.includes(reply.word)) end(reply.word)
  }

  const read = replyReader(take)
  const onread = {
    buffer: ARRIVING,
    callback(length: number) {
      try {
        read(ARRIVING.subarray(0, length))
      } catch {
        end()
      }
      return true
    },
  }
  const options = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, onread }
  const socket = isSecure ? secured() : connectPlain(options)
  const opening = setTimeout(() => end('ETIMEDOUT'), OPENING_MS)
  socket.once(isSecure ? 'secureConnect' : 'connect', greet)
  // Of an error only its code is told, since its words may name the address.
  socket.on('error', ({ code }: NodeJS.ErrnoException) => end(code))
  for (const event of ['end', 'close']) socket.on(event, () => end())

  /** Without a file that TLS needs there is no connection, like without the server. */
  function secured(): Socket {
    try {
      return connectSecurely({ ...options, ...redisTls(address) })
    } catch (error) {
      return new Socket().destroy(error as Error)
    }
  }

  function greet(): void {
    opening.refresh()
    Promise.all(greeting.map((words) => send(commandText(words)))).then(() => {
      clearTimeout(opening)
      if (isOver) return
      isReady = true
      told.ready()
    }, refuse)
  }

  /** Ends a session whose greeting has failed, be it that the server refused it. */
  function refuse(error: unknown): void {
    end(error instanceof RedisRefusal ? error.word : undefined)
  }

  function send(command: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (isOver) return reject(new StoreUnavailable('unreachable'))
      const own: Pending = { resolve, reject, next: undefined }
      if (last) last.next = own
      else first = own
      last = own
      pending += 1
      // Not by `afterReads`, where it would come between calls whose commands are to go along.
      if (outgoing === '') setImmediate(flush)
      outgoing += command
    })
  }

  function flush(): void {
    const text = outgoing
    outgoing = ''
    if (isOver) return
    // What is ASCII is written without being converted.
    socket.write(text, Buffer.byteLength(text) === text.length ? 'latin1' : 'utf8')
  }

  function end(code?: string): void {
    if (isOver) return
    const why = new StoreUnavailable('unreachable', code)
    isOver = true
    isReady = false
    clearTimeout(opening)
    socket.destroy()
    for (let asked = first; asked; asked = asked.next) asked.reject(why)
    first = undefined
    pending = 0
    told.ended(why)
  }

  return {
    get isReady() {
      return isReady
    },
    get pending() {
      return pending
    },
    get answered() {
      return answered
    },
    send,
    end: () => end(),
  }
}
