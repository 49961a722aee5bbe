import { atMost } from '../../lib/at-most.ts'

/** How long a queue may take to accept messages. */
export const SEND_MS = 5000

/** Rejects when a queue has not accepted what was sent. It may have all the same: messages come at least once. */
export async function inTime(sending: Promise<unknown>): Promise<void> {
  if (!(await atMost(SEND_MS, sending))) throw new Error(`The queue accepted nothing within ${SEND_MS} ms.`)
}
