import { entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import type { UpstreamRequest } from '../../transport/transport.ts'
import { type Adapter, type Connection, dropper, type Outgoing } from '../provider.ts'
import { refuseCloudObjects } from '../wire/cloud-objects.ts'
import { basicConversation } from '../wire/fitting/basic-conversation.ts'
import { withFormatInstruction } from '../wire/fitting/format-instruction.ts'
import { hasCacheMarks } from '../wire/fitting/plain-conversation.ts'
import { withSchemaFormat } from '../wire/fitting/schema-format.ts'
import { refuseUnsupportedFields } from '../wire/unsupported-fields.ts'
import { GEMINI } from './api-name.ts'
import { conversationOf } from './contents.ts'
import { withoutSignatures } from './foreign-signatures.ts'
import { generateReply } from './generate-reply.ts'
import { generateStream } from './generate-stream.ts'
import { generationConfigOf } from './generation-config.ts'
import { generationOf } from './generation-of.ts'
import { googleFailure } from './google-failure.ts'
import { toolsOf } from './tools.ts'

const SUPPORTED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'n',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'response_format',
  'modalities',
  'tools',
  'tool_choice',
  'reasoning_effort',
  'thinking',
  'logprobs',
  'top_logprobs',
  'safety_settings',
  'cached_content',
])
const SUPPORTED_WITH_TIERS: ReadonlySet<string> = new Set([...SUPPORTED, 'service_tier'])

/** Addresses of objects in Cloud Storage, and of the account's files at the API. */
export const OBJECTS = /^(gs:|https?:\/\/([^/?#]*@)?generativelanguage\.)/i

/** Chat with a Gemini model on any Google service, by generateContent. */
export const generateContent: Adapter<ChatRequest> = {
  request: (call, connection) => requestOf(call, connection, SUPPORTED),
  takes: { functions: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/ },
  reply: generateReply,
  stream: generateStream,
  failure: googleFailure,
  again: withoutSignatures,
}

/** The same at the Gemini API, whose requests name a tier of service. Those of Vertex do so in headers, and not in every
 *  region. */
export const tieredContent: Adapter<ChatRequest> = {
  ...generateContent,
  request: (call, connection) => requestOf(call, connection, SUPPORTED_WITH_TIERS),
}

function requestOf(
  call: Outgoing<ChatRequest>,
  connection: Connection,
  supported: ReadonlySet<string>,
): UpstreamRequest {
  const { streamed } = call
  const drop = dropper(call)
  refuseUnsupportedFields(call.body, supported, GEMINI, drop)
  const asked = withSchemaFormat(call.body)
  const body = needsFormatInstruction(asked, connection.baseModel) ? withFormatInstruction(asked, drop) : asked
  if (call.translated && hasCacheMarks(body)) drop('cache_control')
  refuseCloudObjects(body.messages, connection, OBJECTS)
  const { contents, systemInstruction } = conversationOf(basicConversation(body.messages, drop), connection.baseModel)
  const generationConfig = generationConfigOf(body, connection.baseModel, drop)
  const { safety_settings: safetySettings, cached_content: cachedContent } = body
  return {
    method: 'POST',
    origin: connection.origin,
    path: methodPath(connection, streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'),
    headers: connection.headers,
    body: JSON.stringify({
      contents,
      ...(systemInstruction ? { systemInstruction } : {}),
      ...toolsOf(body),
      ...(generationConfig ? { generationConfig } : {}),
      ...(safetySettings ? { safetySettings } : {}),
      ...(cachedContent ? { cachedContent } : {}),
      ...(supported.has('service_tier') ? serviceTier(body.service_tier, drop) : {}),
    }),
  }
}

/** `auto` leaves the tier to the API. */
const TIERS: Readonly<Record<string, JsonRecord>> = {
  auto: {},
  default: { serviceTier: 'standard' },
  standard: { serviceTier: 'standard' },
  flex: { serviceTier: 'flex' },
  priority: { serviceTier: 'priority' },
}

function serviceTier(tier: unknown, drop: Drop): JsonRecord {
  if (tier === undefined || tier === null) return {}
  const fields = entryOf(TIERS, tier)
  if (!fields) drop('service_tier')
  return fields ?? {}
}

/** Earlier generations refuse a format beside functions. */
function needsFormatInstruction({ tools }: ChatRequest, model: string): boolean {
  return (tools?.length ?? 0) > 0 && (generationOf(model) ?? 3) < 3
}

/** The path of a model's method. A name without a slash is one of Google's models; others contain their collection. */
export function methodPath({ basePath, model }: Connection, method: string): string {
  return `${basePath}/${model.includes('/') ? model : `models/${model}`}:${method}`
}
