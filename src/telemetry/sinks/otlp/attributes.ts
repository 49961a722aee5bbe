import type { CallFinished } from '../../events.ts'
import { promptOf } from '../prompt-of.ts'
import type { Json } from './protobuf.ts'

/** Attributes by name; undefined ones are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** Names of counts. Other numbers are doubles, whatever their value, so that a name has one type. */
const isCount = (name: string) => /(tokens|count|attempts|status_code|turn)$/.test(name)

export function keyValues(attributes: Attributes): Json[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [{ key, value: anyValue(key, value) }],
  )
}

function anyValue(name: string, value: string | number | boolean | readonly string[]): Json {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') return isCount(name) ? { intValue: String(Math.round(value)) } : { doubleValue: value }
  return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } }
}

/** The conventions' names of operations, by mode. Others are called by their mode. */
const OPERATIONS: Readonly<Record<string, string>> = {
  chat: 'chat',
  completion: 'text_completion',
  embedding: 'embeddings',
  responses: 'chat',
  messages: 'chat',
  tool: 'execute_tool',
}

/** The conventions' names of providers, where they are other than ours. */
const PROVIDERS: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  mistral: 'mistral_ai',
  moonshot: 'moonshot_ai',
  xai: 'x_ai',
}

export const operationOf = ({ mode, endpoint }: CallFinished) =>
  endpoint === '/v1/completions' ? 'text_completion' : (OPERATIONS[mode] ?? mode)

export const providerName = (kind: string) => PROVIDERS[kind] ?? kind

/** The time to the first token, which the conventions have for streams alone. */
export const firstChunkSeconds = ({ streamed, firstTokenMs }: CallFinished): number | undefined =>
  streamed && firstTokenMs !== undefined ? firstTokenMs / 1000 : undefined

/** The attributes of a call, those of the conventions and our own, without content. */
export function callAttributes(call: CallFinished): Attributes {
  const { usage, trace } = call
  const prompt = promptOf(call)
  return {
    'gen_ai.operation.name': operationOf(call),
    'gen_ai.provider.name': providerName(call.provider) || 'unknown',
    'gen_ai.request.model': call.requestedModel,
    'gen_ai.request.stream': call.streamed || undefined,
    'gen_ai.response.model': call.model,
    'gen_ai.response.time_to_first_chunk': firstChunkSeconds(call),
    'gen_ai.conversation.id': trace?.sessionId,
    'gen_ai.prompt.name': prompt?.name,
    'gen_ai.prompt.version': prompt?.version,
    'gen_ai.usage.input_tokens': usage?.inputTokens,
    'gen_ai.usage.output_tokens': usage?.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedInputTokens || undefined,
    'gen_ai.usage.cache_write.input_tokens': usage?.cacheCreationInputTokens || undefined,
    // The older name of the same, which most readers know.
    'gen_ai.usage.cache_creation.input_tokens': usage?.cacheCreationInputTokens || undefined,
    'gen_ai.usage.reasoning.output_tokens': usage?.reasoningTokens || undefined,
    'gen_ai.usage.audio.input_tokens': usage?.audioInputTokens || undefined,
    'gen_ai.usage.audio.output_tokens': usage?.audioOutputTokens || undefined,
    'gen_ai.usage.image.input_tokens': usage?.imageInputTokens || undefined,
    'error.type': call.errorType,
    'user.id': trace?.user,
    'http.route': call.endpoint,
    'http.response.status_code': call.status,
    'gateway.call.id': call.callId,
    'gateway.request.id': call.requestId,
    'gateway.key.id': call.keyId,
    'gateway.team.id': call.teamId,
    'gateway.organization.id': call.organizationId,
    'gateway.user.id': call.userId,
    'gateway.batch.id': call.batchId,
    'gateway.deployment': call.deployment,
    'gateway.tags': call.tags.length > 0 ? call.tags : undefined,
    'gateway.ending': call.ending,
    'gateway.cache': call.cache,
    'gateway.attempts': call.attempts,
    'gateway.cost.usd': call.costNano === undefined ? undefined : call.costNano / 1e9,
    'gateway.overhead.ms': call.overheadMs,
    'gateway.streamed': call.streamed,
  }
}

/** Nanoseconds since 1970, as OTLP/JSON writes them. */
export const nanos = (milliseconds: number) => String(BigInt(Math.round(milliseconds * 1000)) * 1000n)

/** When a call arrived and ended, in milliseconds since 1970. */
export function timesOf({ at, totalMs }: CallFinished): { readonly began: number; readonly ended: number } {
  const ended = Date.parse(at)
  return { began: ended - totalMs, ended }
}
