import { parseRecord } from '../../lib/json/lenient.ts'
import { reveal, type Secret, secret } from '../../lib/secret.ts'
import type { Usage } from '../../modes/usage.ts'
import type { Transport } from '../../transport/transport.ts'
import type { CallFinished } from '../events.ts'
import { post } from './post.ts'
import { promptOf } from './prompt-of.ts'
import { CALLS_ALONE, type Delivered, type Sink, type SinkEntry } from './sink.ts'

export interface LangfuseSettings {
  readonly host: string
  readonly publicKey: string
  readonly secretKey: Secret
  readonly projectId?: string | undefined
}

/** The API takes 3.5 MB at once. */
const BATCH_BYTES = 3_000_000

/** A trace and a generation for each call, by Langfuse's public API for batches. */
export function langfuse({ host, publicKey, secretKey, projectId }: LangfuseSettings, transport: Transport): Sink {
  const root = host.replace(/\/+$/, '')
  const url = `${root}/api/public/ingestion`
  const authorization = secret(`Basic ${btoa(`${publicKey}:${reveal(secretKey)}`)}`)
  const headers = { 'content-type': 'application/json', authorization }
  return {
    name: 'langfuse',
    gathering: { entries: 100, bytes: BATCH_BYTES, ms: 1000 },
    takesContent: true,
    takes: CALLS_ALONE,
    placeOf({ callId, traceId = callId }) {
      if (projectId === undefined) return undefined
      return `${root}/project/${encodeURIComponent(projectId)}/traces/${encodeURIComponent(traceId)}`
    },
    async deliver(entries, abort) {
      const batch = entries.flatMap(ingested)
      const { status, body } = await post(transport, { url, headers, body: JSON.stringify({ batch }) }, abort)
      return outcome(entries, status, parseRecord(body)?.errors)
    },
  }
}

/** The API's result for each event. It answers 207 even if it accepted none. */
function outcome(entries: readonly SinkEntry[], status: number, errors: unknown): Delivered {
  const again = new Set<string>()
  const refused = new Set<string>()
  for (const error of Array.isArray(errors) ? errors : []) {
    const id = String(error?.id).replace(/-(trace|generation)$/, '')
    if (error?.status >= 500 || error?.status === 429) again.add(id)
    else refused.add(id)
  }
  for (const id of again) refused.delete(id)
  return {
    answer: again.size + refused.size === 0 ? `it answered ${status}` : `it answered ${status}, with errors`,
    again: entries.filter(({ id }) => again.has(id)),
    refused: entries.filter(({ id }) => refused.has(id)).length,
  }
}

function ingested({ id, event, content }: SinkEntry): object[] {
  if (event.type !== 'call.finished') return []
  const { trace } = event
  const prompt = promptOf(event)
  const input = content && JSON.parse(content.request)
  const output = content && JSON.parse(content.answer)
  const began = Date.parse(event.at) - event.totalMs
  const time = (ms: number) => new Date(ms).toISOString()
  const traceId = trace?.traceId ?? event.callId
  const metadata = {
    request_id: event.requestId,
    key_id: event.keyId,
    team_id: event.teamId,
    organization_id: event.organizationId,
    deployment: event.deployment,
    provider: event.provider,
    attempts: event.attempts,
    rescued_from: event.rescuedFrom,
    cache: event.cache,
    ending: event.ending,
    status: event.status,
  }
  const isError = event.errorType !== ''
  return [
    {
      // The same with each delivery, so that a repeated one changes nothing.
      id: `${id}-trace`,
      type: 'trace-create',
      timestamp: time(began),
      body: {
        id: traceId,
        timestamp: time(began),
        name: event.endpoint,
        userId: trace?.user ?? (event.userId || undefined),
        sessionId: trace?.sessionId,
        tags: event.tags,
        metadata,
        input,
        output,
      },
    },
    {
      id: `${id}-generation`,
      type: 'generation-create',
      timestamp: event.at,
      body: {
        id: event.callId,
        traceId,
        name: event.model,
        startTime: time(began),
        completionStartTime: event.firstTokenMs === undefined ? undefined : time(began + event.firstTokenMs),
        endTime: event.at,
        model: modelOf(event),
        promptName: prompt?.name,
        // Langfuse links it where it has one of this name and version.
        promptVersion: prompt && Number(prompt.version),
        usageDetails: event.usage && usageDetails(event.usage),
        costDetails: event.costNano === undefined ? undefined : { total: event.costNano / 1e9 },
        level: isError ? 'ERROR' : 'DEFAULT',
        statusMessage: isError ? event.errorType : undefined,
        metadata,
        input,
        output,
      },
    },
  ]
}

const modelOf = ({ model, requestedModel }: CallFinished) => model || requestedModel

/** Token counts that add up: cached and reasoning tokens are subtracted from input and output. */
function usageDetails(usage: Usage): Record<string, number> {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = usage
  return {
    input: Math.max(0, inputTokens - cachedInputTokens),
    output: Math.max(0, outputTokens - reasoningTokens),
    ...(cachedInputTokens > 0 ? { input_cached_tokens: cachedInputTokens } : {}),
    ...(reasoningTokens > 0 ? { output_reasoning_tokens: reasoningTokens } : {}),
    total: inputTokens + outputTokens,
  }
}
