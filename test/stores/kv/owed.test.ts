import { expect, it } from 'vitest'
import { createOwed } from '../../../src/stores/kv/owed.ts'
import { call, ended } from '../../contracts/shared-store/world.ts'

it('what is told late says nothing about a deployment, and that an answer had begun is not told at all', () => {
  const owed = createOwed()
  const [failed, begun] = [ended(call(), { used: { tokens: 3 } }), ended(call(), { result: 'committed' })]
  owed.add(failed)
  owed.add(begun)
  expect(owed.take()?.outcomes).toMatchObject([{ result: 'neutral', used: {} }])
  // As an outcome that says nothing it would end the lease of an attempt that still runs.
  expect(owed.take()).toEqual({ ...begun, outcomes: [] })
})
