import { expect, it } from 'vitest'
import { ofLikeCalls } from '../../src/telemetry/like-calls.ts'
import { finishedCall } from '../support/finished-calls.ts'

it('makes one thing for calls that are alike, whatever else they measured', () => {
  let made = 0
  const of = ofLikeCalls(() => ++made)
  const changes = [
    {},
    { endpoint: '/v1/messages' },
    { mode: 'embedding' },
    { requestedModel: 'alias' },
    { model: 'small' },
    { deployment: 'big-2' },
    { provider: 'other' },
    { keyId: 'key-2' },
    { teamId: 'team-2' },
    { organizationId: 'org-2' },
    { userId: 'user-2' },
    { streamed: true },
    { status: 502 },
    { errorType: 'api_error' },
    { cache: 'hit' as const },
  ]
  const first = changes.map((change) => of(finishedCall(change)))
  expect(first).toEqual(changes.map((_, index) => index + 1))
  expect(changes.map((change) => of(finishedCall({ ...change, totalMs: 7, costNano: 9, tags: ['a'] })))).toEqual(first)
})

it('keeps no more than so many: of one key at one deployment, and in all', () => {
  let made = 0
  const of = ofLikeCalls(() => ++made)
  const names = Array.from({ length: 1000 }, (_, index) => finishedCall({ requestedModel: `alias-${index}` }))
  for (const call of names) of(call)
  expect(of(names.at(-1) as (typeof names)[number])).toBe(1000)
  expect(of(names[0] as (typeof names)[number])).toBe(1001)
  const keys = Array.from({ length: 30_000 }, (_, index) => finishedCall({ keyId: `key-${index}` }))
  for (const call of keys) of(call)
  expect(of(keys.at(-1) as (typeof keys)[number])).toBe(31_001)
  expect(of(keys[0] as (typeof keys)[number])).toBe(31_002)
})
