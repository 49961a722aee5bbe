import { atMost } from './at-most.ts'

/** How long a question waits for others to be asked with. */
const PATIENCE_MS = 500
/** How many go in one. */
const MOST_TOGETHER = 50

/** What somebody who waited is told: to ask these, its own first; what came of its own; or that nobody knows. */
type Word<Question, Reply> =
  | { readonly ask: readonly Waiting<Question, Reply>[] }
  | { readonly reply: Reply }
  | 'unknown'

interface Waiting<Question, Reply> {
  readonly question: Question
  readonly tell: (word: Word<Question, Reply>) => void
}

/** Asks at once what comes while nothing is under way; what comes meanwhile goes together, next. Only for questions that
 *  may be asked twice: who has waited in vain, because a request failed, or ended with the call whose it was, asks its
 *  own. `many` replies to each, in order. */
export function together<Question, Reply>(
  one: (question: Question) => Promise<Reply>,
  many: (questions: readonly Question[]) => Promise<readonly Reply[]>,
): (question: Question) => Promise<Reply> {
  let underWay: { readonly since: number } | undefined
  let waiting: Waiting<Question, Reply>[] = []

  /** Whoever has asked lets the first of those who wait go on, with all of them. */
  async function ask(asking: () => Promise<Reply>): Promise<Reply> {
    const own = { since: performance.now() }
    underWay = own
    try {
      return await asking()
    } finally {
      if (underWay === own) {
        underWay = undefined
        const next = waiting.splice(0, MOST_TOGETHER)
        next[0]?.tell({ ask: next })
      }
    }
  }

  async function askAll(all: readonly Waiting<Question, Reply>[]): Promise<Reply> {
    let replies: readonly Reply[]
    try {
      replies = await many(all.map(({ question }) => question))
    } catch (error) {
      for (const { tell } of all) tell('unknown')
      throw error
    }
    for (const [index, { tell }] of all.entries()) tell({ reply: replies[index] as Reply })
    return replies[0] as Reply
  }

  /** Each waits for a promise of its own: on Workers one call cannot go on with what is another's. */
  async function wordFor(question: Question): Promise<Word<Question, Reply>> {
    const { promise, resolve: tell } = Promise.withResolvers<Word<Question, Reply>>()
    const own = { question, tell }
    waiting.push(own)
    const told = await atMost(PATIENCE_MS, promise)
    if (told) return told.value
    waiting = waiting.filter((other) => other !== own)
    return 'unknown'
  }

  return async (question) => {
    const busy = underWay !== undefined && performance.now() - underWay.since < PATIENCE_MS
    const word = busy ? await wordFor(question) : 'unknown'
    if (word === 'unknown') return ask(() => one(question))
    if ('reply' in word) return word.reply
    return ask(() => (word.ask.length === 1 ? one(question) : askAll(word.ask)))
  }
}
