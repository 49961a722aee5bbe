import { atMost } from './timers/at-most.ts'

/** How long a question waits for its batch. */
const WAIT_MS = 500
const MOST_IN_BATCH = 50

/** How the wait of a question ends: it asks a batch, in which it is the first; it gets its reply; or neither happened. */
type Outcome<Question, Reply> =
  | { readonly batch: readonly Waiting<Question, Reply>[] }
  | { readonly reply: Reply }
  | 'none'

interface Waiting<Question, Reply> {
  readonly question: Question
  readonly resolve: (outcome: Outcome<Question, Reply>) => void
}

/** Batches simultaneous questions. A question is asked at once while none is running; the questions that arrive meanwhile
 *  are asked as one batch afterwards. A question whose batch failed, or was killed with its request, is asked on its own,
 *  so only for questions that may be asked twice. `many` replies to each question, in order. */
export function together<Question, Reply>(
  one: (question: Question) => Promise<Reply>,
  many: (questions: readonly Question[]) => Promise<readonly Reply[]>,
): (question: Question) => Promise<Reply> {
  let running: { readonly since: number } | undefined
  let waiting: Waiting<Question, Reply>[] = []

  /** Asks, and afterwards hands the next batch to the first waiting question. */
  async function ask(asking: () => Promise<Reply>): Promise<Reply> {
    const own = { since: performance.now() }
    running = own
    try {
      return await asking()
    } finally {
      if (running === own) {
        running = undefined
        const batch = waiting.splice(0, MOST_IN_BATCH)
        batch[0]?.resolve({ batch })
      }
    }
  }

  async function askBatch(batch: readonly Waiting<Question, Reply>[]): Promise<Reply> {
    let replies: readonly Reply[]
    try {
      replies = await many(batch.map(({ question }) => question))
    } catch (error) {
      for (const { resolve } of batch) resolve('none')
      throw error
    }
    for (const [index, { resolve }] of batch.entries()) resolve({ reply: replies[index] as Reply })
    return replies[0] as Reply
  }

  /** Waits on a promise of its own, because a call on Workers cannot await the promise of another call. */
  async function outcomeOf(question: Question): Promise<Outcome<Question, Reply>> {
    const { promise, resolve } = Promise.withResolvers<Outcome<Question, Reply>>()
    const own = { question, resolve }
    waiting.push(own)
    const ended = await atMost(WAIT_MS, promise)
    if (ended) return ended.value
    waiting = waiting.filter((other) => other !== own)
    return 'none'
  }

  return async (question) => {
    const busy = running !== undefined && performance.now() - running.since < WAIT_MS
    const outcome = busy ? await outcomeOf(question) : 'none'
    if (outcome === 'none') return ask(() => one(question))
    if ('reply' in outcome) return outcome.reply
    const { batch } = outcome
    return ask(() => (batch.length === 1 ? one(question) : askBatch(batch)))
  }
}
