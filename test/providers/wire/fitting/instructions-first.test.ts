import { expect, it } from 'vitest'
import type { ChatRequest } from '../../../../src/modes/chat.ts'
import { withInstructionsFirst } from '../../../../src/providers/wire/fitting/instructions-first.ts'

type Messages = ChatRequest['messages']
const system = (content: unknown, role = 'system') => ({ role, content })
const user = { role: 'user', content: 'Hi' }
const part = (text: string) => ({ type: 'text', text })

it.each<[string, unknown[], unknown[]]>([
  ['none', [user], [user]],
  ['one at the beginning', [system('A'), user], [system('A'), user]],
  ['two at the beginning', [system('A'), system('B'), user], [system('A\n\nB'), user]],
  ['one behind the user', [user, system('A')], [system('A'), user]],
  [
    'some on both sides, of which one has parts',
    [system([part('A')]), user, system('B')],
    [system([part('A'), part('B')]), user],
  ],
  ["the developer's", [system('A', 'developer'), user], [system('A'), user]],
])('instructions: %s', (_, messages, expected) => {
  expect(withInstructionsFirst(messages as Messages)).toEqual(expected)
})
