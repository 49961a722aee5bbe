import { usageOf } from '../../src/modes/usage.ts'
import type { CallFinished } from '../../src/telemetry/events.ts'

let serial = 0

/** A finished call as the pipeline tells of it. */
export function finishedCall(changes: Partial<CallFinished> = {}): CallFinished {
  serial += 1
  return {
    type: 'call.finished',
    at: '2026-03-04T05:06:07.089Z',
    requestId: `req_${serial}`,
    callId: `call_${serial}`,
    batchId: '',
    prompt: '',
    repeats: false,
    endpoint: '/v1/chat/completions',
    mode: 'chat',
    requestedModel: 'big',
    model: 'big',
    deployment: 'big-1',
    provider: 'openai',
    keyId: 'key-1',
    teamId: 'team-1',
    organizationId: 'org-1',
    userId: '',
    tags: [],
    trace: undefined,
    streamed: false,
    ending: 'answered',
    status: 200,
    errorType: '',
    usage: usageOf({ inputTokens: 10, outputTokens: 5 }),
    costNano: 1500,
    savedNano: 0,
    cache: 'off',
    charges: [],
    attempts: 1,
    tried: [],
    tools: [],
    rescuedFrom: [],
    malformedEvents: 0,
    overheadMs: 0.4,
    firstTokenMs: 20,
    upstreamMs: 30,
    totalMs: 31,
    ...changes,
  }
}
