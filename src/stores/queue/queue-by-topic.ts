import type { Message, Queue } from './queue.ts'

/** Sends messages of some topics through queues of their own. */
export function queueByTopic(others: Queue, own: ReadonlyMap<string, Queue>): Queue {
  return {
    async send(messages, options) {
      const byQueue = Map.groupBy(messages, ({ topic }: Message) => own.get(topic) ?? others)
      for (const [queue, group] of byQueue) await queue.send(group, options)
    },
  }
}
