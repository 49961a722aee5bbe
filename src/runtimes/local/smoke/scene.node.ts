import { setTimeout as wait } from 'node:timers/promises'
import type { Bounds } from './bounds.ts'
import { type Answer, type FarEnd, inShort, jsonOf } from './far-end.node.ts'
import { type TemporaryKeys, temporaryKeys } from './temporary-keys.node.ts'

export const SHORT = 'Answer with the word: ok'
const COUNTING = 'Count from 1 to 40, one number a line, and write nothing else.'
export const LONG_COUNTING = 'Count from 1 to 400, one number a line, and write nothing else.'

/** What checks go by. What several of them need is asked once. */
export interface Scene {
  readonly farEnd: FarEnd
  readonly key: string
  readonly bounds: Bounds
  readonly keys: TemporaryKeys
  /** The request of a chat. */
  chat(words: string, options?: { key?: string; stream?: true }): { path: string; key: string; json: object }
  /** A short call with the given key. */
  wholeCall(): Promise<Answer>
  streamedCall(): Promise<Answer>
  /** What the gateway says of its installation; needs an admin key. */
  instance(): Promise<Instance>
  /** The row of a call in the ledger, as soon as it is there; undefined where it does not come in time. */
  ledgerRow(requestId: string): Promise<LedgerRow | undefined>
  /** Asks again until the answer is no longer undefined, or the time is over. */
  until<T>(withinMs: number, everyMs: number, look: () => Promise<T | undefined>): Promise<T | undefined>
}

export interface Instance {
  readonly version?: string
  readonly runtime?: string
  readonly store?: {
    readonly kind?: string
    readonly mode?: string
    readonly ok?: boolean
    readonly latency_ms?: number | null
  }
  readonly database?: { readonly kind?: string; readonly ok?: boolean; readonly latency_ms?: number | null }
  readonly queue?: { readonly waiting: number; readonly dead: number; readonly oldest_sent_at: string | null } | null
  readonly records_waiting?: Readonly<Record<string, number>>
  readonly clock_ran_at?: string | null
}

export interface LedgerRow {
  readonly request_id?: string
  readonly model?: string
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly first_token_ms?: number | null
  readonly total_ms?: number | null
}

interface Setting {
  readonly farEnd: FarEnd
  readonly key: string
  readonly model: string
  readonly bounds: Bounds
}

export function sceneOf({ farEnd, key, model, bounds }: Setting): Scene {
  const chat: Scene['chat'] = (words, { key: other = key, stream } = {}) => ({
    path: '/v1/chat/completions',
    key: other,
    json: { model, messages: [{ role: 'user', content: words }], ...(stream ? { stream } : {}) },
  })
  async function admin(path: string): Promise<unknown> {
    const answer = await farEnd.ask({ path, key })
    if (answer.status !== 200) throw new Error(`GET ${path.split('?')[0]} answers ${inShort(answer)}`)
    return jsonOf(answer)
  }
  const until: Scene['until'] = async (withinMs, everyMs, look) => {
    const deadline = performance.now() + withinMs
    for (;;) {
      const seen = await look()
      if (seen !== undefined || performance.now() > deadline) return seen
      await wait(Math.min(everyMs, withinMs / 4))
    }
  }
  return {
    farEnd,
    key,
    bounds,
    keys: temporaryKeys(farEnd, key),
    chat,
    until,
    wholeCall: once(() => farEnd.ask(chat(SHORT))),
    streamedCall: once(() => farEnd.ask(chat(COUNTING, { stream: true }))),
    instance: async () => ((await admin('/ui/api/instance')) ?? {}) as Instance,
    ledgerRow: (requestId) =>
      until(bounds.ledgerRow, 250, async () => {
        const page = await admin(`/ui/api/logs?request_id=${encodeURIComponent(requestId)}`)
        return (page as { data?: LedgerRow[] } | undefined)?.data?.[0]
      }),
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
