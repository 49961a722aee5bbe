import { expect, it } from 'vitest'
import type { Call } from '../../src/pipeline/call.ts'
import type { Plan } from '../../src/pipeline/plan.ts'
import { startReserved } from '../../src/pipeline/start-attempt.ts'
import type { Deployment } from '../../src/routing/deployment.ts'

it('a reservation that is used after all is not given back under the attempt that uses it', () => {
  const reserved = { attemptId: 'att_1', deployment: 'first' }
  const call = { attempts: [], returned: [reserved] } as unknown as Call
  expect(startReserved(call, {} as Plan, { id: 'first' } as Deployment, reserved)).toMatchObject({ id: 'att_1' })
  expect(call.returned).toEqual([])
})
