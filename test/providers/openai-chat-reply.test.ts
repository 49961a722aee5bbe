import { expect, it } from 'vitest'
import { openaiChat } from '../../src/providers/openai-chat.ts'

it('an error of status 200 is told in its own letters', () => {
  const error = { type: 'invalid_request_error', message: 'Ungültig: 参数错误' }
  const bytes = new TextEncoder().encode(JSON.stringify({ error }))
  expect(() => openaiChat.reply(bytes, {}, {} as never)).toThrow('Ungültig: 参数错误')
})
