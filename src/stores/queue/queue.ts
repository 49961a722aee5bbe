/** A message, delivered at least once and in no particular order. The body is JSON of at most 100 KB. */
export interface Message {
  readonly topic: string
  readonly body: unknown
}

export interface DeliveredMessage extends Message {
  /** The same for all deliveries of a message, for idempotent handling. */
  readonly id: string
  /** 1 for the first delivery. */
  readonly attempt: number
}

/** Handles a message. If it throws, the message is delivered again, a bounded number of times, and then dead-lettered. A
 *  failure does not repeat other messages. */
export type Handler = (delivery: DeliveredMessage) => Promise<void>

/** The sending side, which every runtime has. It resolves when the messages survive the process, and rejects within seconds
 *  if that is not certain. */
export interface Queue {
  send(messages: readonly Message[], options?: { delaySeconds?: number }): Promise<void>
}
