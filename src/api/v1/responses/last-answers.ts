import { GatewayError } from '../../../lib/errors.ts'
import type { Footprint } from '../../../lib/footprints.ts'
import type { JsonRecord } from '../../../lib/json/lenient.ts'

/** The answer of a lane that no store keeps (`store: false`). */
interface LastAnswer {
  readonly id: string
  readonly history: readonly JsonRecord[]
}

/** The last such answer of each lane of a connection, for the turns that continue it. */
export interface LastAnswers {
  /** The answer with this id, and its lane: an answer of one lane may be continued in another. */
  find(id: string): { readonly lane: string | undefined; readonly history: readonly JsonRecord[] } | undefined
  /** Remembers an answer instead of the lane's former one, unless nobody can continue it, or there is no memory for it. */
  remember(lane: string | undefined, answer: LastAnswer, bytes: number): void
  forget(lane: string | undefined): void
  /** The connection is closed: forgets all, and remembers none from now on. */
  end(): void
}

/** `hold` counts memory, and throws where there is none. Of more lanes than `most` the oldest are forgotten. */
export function lastAnswers(hold: (bytes: number) => Footprint, most: number): LastAnswers {
  const lasts = new Map<string | undefined, LastAnswer & { readonly footprint: Footprint }>()
  let isClosed = false

  function forget(lane: string | undefined): void {
    lasts.get(lane)?.footprint.release()
    lasts.delete(lane)
  }

  return {
    find(id) {
      const [lane, last] = [...lasts].find(([, known]) => known.id === id) ?? []
      return last && { lane, history: last.history }
    },
    remember(lane, answer, bytes) {
      forget(lane)
      if (isClosed || answer.id === '') return
      for (const oldest of lasts.keys()) if (lasts.size >= most) forget(oldest)
      try {
        lasts.set(lane, { ...answer, footprint: hold(bytes) })
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
      }
    },
    forget,
    end() {
      isClosed = true
      for (const lane of [...lasts.keys()]) forget(lane)
    },
  }
}
