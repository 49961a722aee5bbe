import { expect, it } from 'vitest'
import { editing } from '../../../../src/providers/wire/fitting/edited-request.ts'
import { wholeBody } from '../../../../src/transport/whole-body.ts'

const request = { method: 'POST', origin: 'https://up.example', path: '/', headers: {} } as const
const utf8 = new TextEncoder()

it.each(['text', 'bytes', 'pieces'])(
  'changes members of a body in %s, and no integer that a double would round',
  (form) => {
    const text = '{"input":[{"type":"left out"},{"id":12345678901234567890}],"seed":98765432109876543210}'
    const body = {
      text,
      bytes: utf8.encode(text),
      pieces: [utf8.encode(text.slice(0, 9)), utf8.encode(text.slice(9))],
    }[form]
    const rewrite = editing(({ input }) => ({ input: (input as unknown[]).slice(1) }))
    const edited = wholeBody(rewrite({ ...request, ...(body ? { body } : {}) }).body)
    const written = typeof edited === 'string' ? edited : new TextDecoder().decode(edited)
    expect(written).toBe('{"input":[{"id":12345678901234567890}],"seed":98765432109876543210}')
  },
)

it('leaves a body alone that is no JSON object', () => {
  const asked = { ...request, body: '[1]' }
  expect(editing(() => ({ a: 1 }))(asked)).toBe(asked)
})
