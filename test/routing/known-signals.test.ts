import { expect, it } from 'vitest'
import { knownSignals } from '../../src/routing/known-signals.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'

it('what was heard of deployments that are removed is forgotten', async () => {
  const signals = knownSignals()
  const store = inProcessStore({ now: Date.now })
  const used = { requests: 3 }
  signals.learn((await store.signals(['stays', 'goes'])).map((one) => ({ ...one, used })))
  signals.keep(new Set(['stays', 'new']))
  expect(signals.of('stays').used).toEqual(used)
  expect(signals.of('goes').used).toEqual({})
})
