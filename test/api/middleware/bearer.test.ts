import { expect, it } from 'vitest'
import { bearerOf } from '../../../src/api/middleware/bearer.ts'

it.each([
  [undefined, undefined],
  ['', undefined],
  ['Bearer sk-1', 'sk-1'],
  ['bearer sk-1', 'sk-1'],
  ['BEARER   sk-1  ', 'sk-1'],
  ['Bearer  sk-1', 'sk-1'],
  ['Bearer sk-1 ', 'sk-1'],
  ['Bearer sk-1 sk-2', undefined],
  ['Bearer sk-1, Bearer sk-2', undefined],
  ['Bearer\tsk-1', undefined],
  ['Basic sk-1', undefined],
  ['sk-1', undefined],
])('of %j the credential is %j', (header, credential) => {
  expect(bearerOf(header)).toBe(credential)
})
