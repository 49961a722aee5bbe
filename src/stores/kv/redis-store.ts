import { isCounter } from './counted-series.ts'
import { strictly, within } from './deadline.ts'
import { countersKey, type Key, logKey } from './keys.ts'
import { admitScript } from './scripts/admit.ts'
import { publishScript } from './scripts/publish.ts'
import { raiseScript } from './scripts/raise.ts'
import { renewScript } from './scripts/renew.ts'
import { isRead, readText, replyOf } from './scripts/reply.ts'
import type { Script } from './scripts/script.ts'
import type { ScriptKey } from './scripts/script-keys.ts'
import { settleScript } from './scripts/settle.ts'
import { signalsScript } from './scripts/signals.ts'
import { stampScript } from './scripts/stamp.ts'
import { standingScript } from './scripts/standing.ts'
import { startAttemptScript } from './scripts/start-attempt.ts'
import type { Settlement, SharedStore } from './shared-store.ts'
import { StoreUnavailable } from './store-unavailable.ts'
import { milliseconds } from './windows.ts'

/** Sends one command and resolves with its reply in RESP 2 terms (text, numbers, null, arrays). Rejects with `RedisRefusal`
 *  when the server answered an error, with `StoreUnavailable` otherwise. */
export type SendCommand = (command: readonly string[]) => Promise<unknown>

/** The script of a method, as the server knows it. */
export interface PreparedScript {
  readonly text: string
  readonly sha: string
}

/** Sends the `EVALSHA` of a script, with its keys and the arguments behind them. */
export type SendScript = (script: PreparedScript, keys: readonly ScriptKey[], args: ScriptArguments) => Promise<unknown>

/** The clock, or '' for the server's, and the arguments of the method as one JSON array. */
export type ScriptArguments = readonly [now: string, json: string]

/** How Redis before 7.0, and Dragonfly, wrap the error of a command in a script. */
const IN_SCRIPT = /^ERR Error running script \(call to \w+\): (?:@user_script: ?\d+: )+-/

/** An error reply. `word` is its first word, the only part that is safe to show; of an error inside a script that one's. */
export class RedisRefusal extends Error {
  override readonly name = 'RedisRefusal'
  readonly word: string

  constructor(reply: string) {
    const word = /^[A-Z]{2,16}\b/.exec(reply.replace(IN_SCRIPT, ''))?.[0] ?? 'ERR'
    super(word)
    this.word = word
  }
}

export interface RedisStoreOptions {
  /** The prefix of every key, with which several gateways can share one server. */
  readonly prefix?: string
  /** Replaces the server's clock, for tests. */
  readonly now?: () => number
  /** The first line of every script, for servers that require one. */
  readonly scriptHeader?: string
  /** Sends scripts, if there is a cheaper way than as any other command. */
  readonly sendScript?: SendScript
  /** Sends the `EVALSHA` of a settlement, if another way is cheaper: only its own call waits for it, and a repeat changes
   *  nothing. */
  readonly sendSettlement?: SendCommand
  readonly close?: () => Promise<void>
}

/** Hosted stores bound a request, in which many settlements may go together. */
const LONG_CHARACTERS = 16_384

function isLong({ values = [] }: Settlement): boolean {
  return values.reduce((sum, { text }) => sum + text.length, 0) > LONG_CHARACTERS
}

/** The shared store over anything that speaks Redis commands. */
export function redisStore(send: SendCommand, options: RedisStoreOptions = {}): SharedStore {
  const { prefix = '', now, scriptHeader = '', sendSettlement, close = async () => {} } = options
  const prepared = new Map<string, PreparedScript>()

  const sendBy =
    (send: SendCommand): SendScript =>
    ({ sha }, keys, args) =>
      send(['EVALSHA', sha, ...afterScript(keys, args)])
  const sendScript = options.sendScript ?? sendBy(send)
  const settleBy = sendSettlement ? sendBy(sendSettlement) : sendScript

  /** Everything of a script's command that follows the script. */
  function afterScript(keys: readonly ScriptKey[], args: ScriptArguments): string[] {
    const named = keys.flatMap((part) => (typeof part === 'string' ? part : part.keys))
    return [String(named.length), ...named.map((key) => prefix + key), ...args]
  }

  async function prepare(scriptText: string): Promise<PreparedScript> {
    const text = scriptHeader + scriptText
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text)))
    const script = { text, sha: Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('') }
    prepared.set(scriptText, script)
    return script
  }

  async function ask(command: readonly string[]): Promise<unknown> {
    try {
      return await send(command)
    } catch (error) {
      if (error instanceof RedisRefusal) throw new StoreUnavailable('refused', error.word)
      throw error
    }
  }

  // Without async functions on the way of every call, which is as short as promises allow.
  function run<Input, Output>(
    script: Script<Input, Output>,
    input: Input,
    sendIt: SendScript = sendScript,
  ): Promise<Output> {
    const known = prepared.get(script.text)
    if (!known) return prepare(script.text).then(() => run(script, input, sendIt))
    try {
      const { keys, args } = script.encode(input)
      const following: ScriptArguments = [now ? String(now()) : '', `[${args}]`]
      const decode = (reply: unknown) => script.decode(replyOf(reply), input)
      return sendIt(known, keys, following).then(decode, async (error) => {
        if (!(error instanceof RedisRefusal)) throw error
        if (error.word !== 'NOSCRIPT') throw new StoreUnavailable('refused', error.word)
        return decode(await ask(['EVAL', known.text, ...afterScript(keys, following)]))
      })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async function value(command: readonly string[]): Promise<string | undefined> {
    const reply = await ask(command)
    if (reply === null || reply === undefined) return undefined
    if (typeof reply !== 'string') throw new StoreUnavailable('nonsense')
    return reply
  }

  async function items(command: readonly string[]): Promise<string[]> {
    const reply = replyOf(await ask(command))
    const read: string[] = []
    while (!isRead(reply)) read.push(readText(reply))
    return read
  }

  const set = (key: Key, text: string, ttlSeconds: number) =>
    ['SET', prefix + key, text, 'PX', String(Math.max(1, milliseconds(ttlSeconds)))] as const

  return {
    admit: (call) => run(admitScript, call),
    startAttempt: (start) => run(startAttemptScript, start),
    settle: (outcome) => run(settleScript, outcome, isLong(outcome) ? sendScript : settleBy),
    renew: (lease) => run(renewScript, lease),
    raise: (spent) => run(raiseScript, spent),
    publish: (change) => run(publishScript, change),
    stamp: (key, ttlSeconds) => run(stampScript, { key, ttlSeconds }),
    signals: (deployments) => run(signalsScript, deployments),
    standing: (limits) => run(standingScript, limits),
    async counters() {
      const read = await items(['HGETALL', prefix + countersKey()])
      const counters: Record<string, number> = {}
      for (let at = 0; at + 1 < read.length; at += 2) {
        const field = read[at] as string
        if (isCounter(field)) counters[field] = Number(read[at + 1])
      }
      return counters
    },
    entries: (log, limit) =>
      limit > 0 ? items(['LRANGE', prefix + logKey(log), '0', String(limit - 1)]) : Promise.resolve([]),
    get: (key) => value(['GET', prefix + key]),
    async getAll(keys) {
      if (keys.length === 0) return []
      const reply = await ask(['MGET', ...keys.map((key) => prefix + key)])
      if (!Array.isArray(reply) || reply.length !== keys.length) throw new StoreUnavailable('nonsense')
      return reply.map((text) => (typeof text === 'string' ? text : undefined))
    },
    async put(key, text, ttlSeconds) {
      if ((await value(set(key, text, ttlSeconds))) !== 'OK') throw new StoreUnavailable('nonsense')
    },
    putNew: async (key, text, ttlSeconds) => (await value([...set(key, text, ttlSeconds), 'NX'])) === 'OK',
    take: (key) => value(['GETDEL', prefix + key]),
    async remove(...keys) {
      if (keys.length > 0) await ask(['DEL', ...keys.map((key) => prefix + key)])
    },
    mode: () => 'shared' as const,
    async ping(timeoutMs) {
      if ((await within(strictly(timeoutMs), ask(['PING']))) !== 'PONG') throw new StoreUnavailable('nonsense')
    },
    close,
  }
}
