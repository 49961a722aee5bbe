/** Work to be done later, at least once, in no order. The body is JSON, at most 100 KB. */
export interface Message {
  readonly topic: string
  readonly body: unknown
}

export interface Delivery extends Message {
  /** Stable over redeliveries: what makes handling idempotent. */
  readonly id: string
  /** 1 for the first delivery. */
  readonly attempt: number
}

/** Returns when the message is done with; throws to have it delivered again, a bounded number of times, after which it
 *  is kept in the dead letters. One failing message never repeats its neighbours. */
export type Handler = (delivery: Delivery) => Promise<void>

/** The sending side, which every runtime has. Resolved means kept: the message survives the process. Rejects, within
 *  seconds, where that cannot be said. */
export interface Queue {
  send(messages: readonly Message[], options?: { delaySeconds?: number }): Promise<void>
}
