import { expect, it } from 'vitest'
import { createUnsettled } from '../../../src/stores/kv/unsettled.ts'
import { call, ended } from '../../contracts/shared-store/world.ts'

it('what is told late says nothing about a deployment, and that an answer had begun is not told at all', () => {
  const unsettled = createUnsettled()
  const [failed, begun] = [ended(call(), { used: { tokens: 3 } }), ended(call(), { result: 'committed' })]
  unsettled.add(failed)
  unsettled.add(begun)
  expect(unsettled.take()?.outcomes).toMatchObject([{ result: 'neutral', used: {} }])
  // As an outcome that says nothing it would end the lease of an attempt that still runs.
  expect(unsettled.take()).toEqual({ ...begun, outcomes: [] })
})
