import { atMost } from '../../lib/at-most.ts'
import { RedisRefusal, type SendCommand } from './redis-store.ts'

/** Sends several commands in one request, and resolves with the reply of each, or with its refusal. */
export type SendCommands = (commands: readonly (readonly string[])[]) => Promise<readonly unknown[]>

/** How long a command waits for others to be sent with. */
const PATIENCE_MS = 500
/** How many go in one request. */
const MOST_TOGETHER = 50

/** What somebody who waited is told: to send these, its own first; what came of its own; or that nobody knows. */
type Word =
  | { readonly send: readonly Waiting[] }
  | { readonly reply: unknown }
  | { readonly refusal: RedisRefusal }
  | 'unknown'

interface Waiting {
  readonly command: readonly string[]
  readonly tell: (word: Word) => void
}

/** Sends at once what comes while nothing is under way; what comes meanwhile goes together, next. Only for commands that
 *  may be run twice: who has waited in vain, because a request failed, or ended with the call whose it was, sends its
 *  own. */
export function together(one: SendCommand, many: SendCommands): SendCommand {
  let underWay: { readonly since: number } | undefined
  let waiting: Waiting[] = []

  /** Whoever has sent lets the first of those who wait go on, with all of them. */
  async function send(sending: () => Promise<unknown>): Promise<unknown> {
    const own = { since: performance.now() }
    underWay = own
    try {
      return await sending()
    } finally {
      if (underWay === own) {
        underWay = undefined
        const next = waiting.splice(0, MOST_TOGETHER)
        next[0]?.tell({ send: next })
      }
    }
  }

  async function sendAll(all: readonly Waiting[]): Promise<unknown> {
    let replies: readonly unknown[]
    try {
      replies = await many(all.map(({ command }) => command))
    } catch (error) {
      for (const { tell } of all) tell('unknown')
      throw error
    }
    for (const [index, { tell }] of all.entries()) {
      const reply = replies[index]
      tell(reply instanceof RedisRefusal ? { refusal: reply } : { reply })
    }
    if (replies[0] instanceof RedisRefusal) throw replies[0]
    return replies[0]
  }

  /** Each waits for a promise of its own: on Workers one call cannot go on with what is another's. */
  async function wordFor(command: readonly string[]): Promise<Word> {
    const { promise, resolve: tell } = Promise.withResolvers<Word>()
    const own = { command, tell }
    waiting.push(own)
    const told = await atMost(PATIENCE_MS, promise)
    if (told) return told.value
    waiting = waiting.filter((other) => other !== own)
    return 'unknown'
  }

  return async (command) => {
    const busy = underWay !== undefined && performance.now() - underWay.since < PATIENCE_MS
    const word = busy ? await wordFor(command) : 'unknown'
    if (word === 'unknown') return send(() => one(command))
    if ('refusal' in word) throw word.refusal
    if ('reply' in word) return word.reply
    return send(() => (word.send.length === 1 ? one(command) : sendAll(word.send)))
  }
}
