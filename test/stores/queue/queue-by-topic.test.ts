import { expect, it } from 'vitest'
import type { Message, Queue } from '../../../src/stores/queue/queue.ts'
import { queueByTopic } from '../../../src/stores/queue/queue-by-topic.ts'

it('sends the messages of a topic through its own queue, with what was asked for them', async () => {
  const sent: unknown[] = []
  const queue = (name: string): Queue => ({
    async send(messages, options) {
      sent.push([name, messages.map(({ body }) => body), options])
    },
  })
  const messages: Message[] = [
    { topic: 'a', body: 1 },
    { topic: 'own', body: 2 },
    { topic: 'b', body: 3 },
  ]
  await queueByTopic(queue('others'), new Map([['own', queue('own')]])).send(messages, { delaySeconds: 7 })
  expect(sent).toEqual([
    ['others', [1, 3], { delaySeconds: 7 }],
    ['own', [2], { delaySeconds: 7 }],
  ])
})
