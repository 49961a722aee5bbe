import type { Usage } from '../modes/usage.ts'
import type { ChargedRow } from '../stores/sql/spend/spend-row.ts'
import { keepable } from '../stores/sql/storable-text.ts'
import { detailOf, isFailedOver } from './call-detail.ts'
import type { CallFinished } from './events.ts'

const LONGEST_NAME = 1024

/** The row of a finished call. A column of `stores/sql/spend/call-facts.ts` without its line here does not compile. It
 *  is written out for speed, since it is built for every call. */
export function factsOf(call: CallFinished): ChargedRow {
  // An entry of a file or queue may be from an older build, with fewer fields.
  const usage: Partial<Usage> = call.usage ?? NOTHING
  return {
    call_id: call.callId,
    at: call.at,
    request_id: keepable(call.requestId, LONGEST_NAME),
    endpoint: call.endpoint,
    mode: call.mode,
    requested_model: keepable(call.requestedModel, LONGEST_NAME),
    model: keepable(call.model, LONGEST_NAME),
    deployment: keepable(call.deployment, LONGEST_NAME),
    provider: call.provider,
    key_id: call.keyId,
    team_id: call.teamId,
    organization_id: call.organizationId,
    user_id: call.userId,
    // Earlier builds had no batches and no prompts.
    batch_id: call.batchId ?? '',
    prompt: call.prompt ?? '',
    tags: call.tags,
    streamed: call.streamed,
    ending: call.ending,
    status: call.status,
    error_type: call.errorType,
    cache: call.cache,
    attempts: call.attempts,
    failed_over: isFailedOver(call),
    rescued: call.rescuedFrom.length,
    input_tokens: whole(usage.inputTokens),
    output_tokens: whole(usage.outputTokens),
    cached_input_tokens: whole(usage.cachedInputTokens),
    cache_creation_input_tokens: whole(usage.cacheCreationInputTokens),
    reasoning_tokens: whole(usage.reasoningTokens),
    images: whole(usage.images),
    audio_seconds: usage.audioSeconds ?? 0,
    characters: whole(usage.characters),
    rerank_units: whole(usage.rerankUnits),
    estimated: usage.estimated ?? false,
    cost_nano: call.costNano ?? null,
    saved_nano: call.savedNano,
    overhead_ms: call.overheadMs,
    first_token_ms: call.firstTokenMs ?? null,
    upstream_ms: call.upstreamMs ?? null,
    total_ms: call.totalMs,
    charges: call.charges,
    detail: detailOf(call),
  }
}

const NOTHING: Partial<Usage> = {}

/** A provider's count as an integer, which the ledger requires. */
function whole(count = 0): number {
  return Math.min(Math.round(count), Number.MAX_SAFE_INTEGER)
}
