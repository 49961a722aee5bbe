import { newTimedId } from '../../lib/ids.ts'
import type { CallFinished } from '../events.ts'
import type { Notice } from '../notices.ts'
import type { Sink, SinkEvent } from './sink.ts'

/** An invented event, with which the administration tests a sink: a call if the sink takes calls. */
export function testEvent(takes: Sink['takes'], now: number): SinkEvent {
  const at = new Date(now).toISOString()
  const [type = 'call.finished'] = takes
  return type === 'call.finished' ? testCall(at) : testNotices(at)[type]
}

const OWNER = { keyId: 'test', teamId: '', organizationId: '', userId: '' }

function testNotices(at: string): { readonly [Type in Notice['type']]: Extract<Notice, { readonly type: Type }> } {
  const owner = { level: 'key', id: 'test', model: '', subject: 'key:test', scope: 'key_budget', period: '' }
  return {
    'budget.soft_exceeded': { type: 'budget.soft_exceeded', at, ...owner, spentNano: 0, softNano: 0 },
    'budget.exceeded': { type: 'budget.exceeded', at, ...owner, spentNano: 0, limitNano: 0 },
    'deployment.cooled': {
      type: 'deployment.cooled',
      at,
      deployment: 'test',
      model: 'test',
      provider: 'test',
      error: 'test',
      failures: 1,
      until: at,
    },
    'batch.finished': {
      type: 'batch.finished',
      at,
      batchId: 'batch_test',
      status: 'completed',
      endpoint: '/v1/chat/completions',
      ...OWNER,
      requests: 0,
      completed: 0,
      failed: 0,
      costNano: 0,
      createdAt: at,
    },
    'key.expiring': { type: 'key.expiring', at, ...OWNER, keyName: 'test', expiresAt: at, days: 1 },
  }
}

function testCall(at: string): CallFinished {
  return {
    type: 'call.finished',
    at,
    requestId: newTimedId('req'),
    callId: newTimedId('call'),
    batchId: '',
    prompt: '',
    repeats: false,
    endpoint: '/v1/chat/completions',
    mode: 'chat',
    requestedModel: 'test',
    model: 'test',
    deployment: 'test',
    provider: 'test',
    ...OWNER,
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
