import { newTimedId } from '../../lib/ids.ts'
import type { CallFinished } from '../events.ts'

/** A call that never was, by which the administration tests a sink. */
export function testEvent(now: number): CallFinished {
  return {
    type: 'call.finished',
    at: new Date(now).toISOString(),
    requestId: newTimedId('req'),
    callId: newTimedId('call'),
    batchId: '',
    repeats: false,
    endpoint: '/v1/chat/completions',
    mode: 'chat',
    requestedModel: 'test',
    model: 'test',
    deployment: 'test',
    provider: 'test',
    keyId: 'test',
    teamId: '',
    organizationId: '',
    userId: '',
    tags: ['gateway-test'],
    trace: undefined,
    streamed: false,
    ending: 'answered',
    status: 200,
    errorType: '',
    usage: undefined,
    costNano: 0,
    savedNano: 0,
    cache: 'off',
    charges: [],
    attempts: 0,
    tried: [],
    tools: [],
    rescuedFrom: [],
    malformedEvents: 0,
    overheadMs: 0,
    firstTokenMs: undefined,
    upstreamMs: undefined,
    totalMs: 0,
  }
}
