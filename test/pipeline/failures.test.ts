import { expect, it } from 'vitest'
import { asUpstreamFailure } from '../../src/pipeline/failures.ts'
import { TransportError } from '../../src/transport/transport.ts'

it('blames no deployment where the gateway itself may open no further connection', () => {
  const cause = Object.assign(new Error('connect EMFILE 192.0.2.1:443'), { code: 'EMFILE' })
  const failure = asUpstreamFailure(new TransportError('the connection failed: EMFILE', { cause }))
  expect(failure).toMatchObject({
    status: 503,
    code: 'too_many_open_files',
    details: { retryAfterSeconds: 1 },
    isFinal: true,
  })
  expect(failure.row.blames).toBeUndefined()
})
