import { atMost } from '../../lib/timers/at-most.ts'

/** How long a queue may take to accept messages. */
export const SEND_MS = 5000

/** Rejects if a queue has not accepted the messages in time, though it may still accept them. */
export async function inTime(sending: Promise<unknown>): Promise<void> {
  if (!(await atMost(SEND_MS, sending))) throw new Error(`The queue accepted nothing within ${SEND_MS} ms.`)
}
