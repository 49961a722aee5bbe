import { expect, it } from 'vitest'
import { startReserved } from '../../../src/pipeline/attempt/start-attempt.ts'
import type { Call } from '../../../src/pipeline/call.ts'
import type { Plan } from '../../../src/pipeline/plan/plan.ts'
import type { Deployment } from '../../../src/routing/deployment.ts'

it('a place that an attempt takes is not given back, and is taken once', () => {
  const reserved = { attemptId: 'att_1', deployment: 'first', at: 1, probe: false }
  const call = { attempts: [], unused: [reserved] } as unknown as Call
  const plan = {} as Plan
  const [first, second] = [{ id: 'first' } as Deployment, { id: 'second' } as Deployment]
  expect(startReserved(call, plan, second)).toBeUndefined()
  expect(startReserved(call, plan, first)).toMatchObject({ id: 'att_1', plan, reserved, asked: false })
  expect(startReserved(call, plan, first)).toBeUndefined()
  expect(call.unused).toEqual([])
})
