import { GatewayError } from '../../lib/errors.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { asList, asRecord, asText, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { ToolUses } from '../../modes/price/surcharges.ts'
import type { Usage } from '../../modes/usage.ts'
import type { UpstreamRequest } from '../../transport/transport.ts'
import type { Adapter, Connection, Outgoing, StreamReader, StreamStep } from '../provider.ts'
import { countedTokens } from '../wire/counted-tokens.ts'
import { relayedEvents } from '../wire/relayed-events.ts'
import { withoutSignatures } from './foreign-signatures.ts'
import { geminiUsage } from './gemini-usage.ts'
import { methodPath } from './generate-content.ts'
import { failureIn } from './generate-reply.ts'
import { googleFailure } from './google-failure.ts'
import { groundingAsked, mostOf, usesIn } from './grounding.ts'
import { nativeChanges } from './native-changes.ts'

const NOTHING = new Uint8Array()

/** generateContent for its own clients: bytes are relayed both ways, and the usage read. */
export const nativeGenerateContent: Adapter = {
  request: (call, connection) =>
    relayed(call, connection, call.streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'),

  reply(bytes, headers, call) {
    const answer = parseRecord(bytes)
    const failure = answer && failureIn(answer)
    if (failure) throw failure
    if (!answer || asList(answer.candidates).length === 0) {
      throw new GatewayError(
        answer ? 'unusable_answer' : 'upstream_malformed',
        "The provider's answer has no candidates.",
      )
    }
    const usage = withUses(geminiUsage(answer.usageMetadata, headers), usesIn(answer, groundingAsked(call.body)))
    return { bytes, contentType: 'application/json', usage, outputCharacters: charactersIn(answer) }
  },

  stream: relayedStream,
  events: (answer) => [answer],
  failure: googleFailure,
  again: withoutSignatures,
}

export const nativeGeminiCount: Adapter = {
  request: (call, connection) => relayed(call, connection, 'countTokens'),
  reply: (bytes) => countedTokens(bytes, 'totalTokens'),
  failure: googleFailure,
  again: withoutSignatures,
}

/** The model and the stream are in the path, and the metadata is the gateway's. */
const OWN = { model: undefined, stream: undefined, metadata: undefined }

function relayed({ body, bytes }: Outgoing, connection: Connection, method: string): UpstreamRequest {
  return {
    method: 'POST',
    origin: connection.origin,
    path: methodPath(connection, method),
    headers: connection.headers,
    body: editJson(bytes, body, { ...OWN, ...nativeChanges(body, bytes, connection) }),
  }
}

/** Events pass as they are. There is none that closes the stream: it ends when every candidate has its reason. */
function relayedStream({ body }: Outgoing, headers: Readonly<Record<string, string>>): StreamReader {
  const awaited = candidatesOf(body)
  const finished = new Set<unknown>()
  const asked = groundingAsked(body)
  let uses: ToolUses = {}
  const read = (event: JsonRecord): StreamStep => {
    const failure = failureIn(event)
    if (failure) return { failure }
    const candidates = asList(event.candidates).map(asRecord)
    for (const [position, { finishReason, index = position }] of candidates.entries()) {
      if (asText(finishReason) !== '') finished.add(index)
    }
    uses = mostOf(uses, usesIn(event, asked))
    const usage = withUses(geminiUsage(event.usageMetadata, headers), uses)
    const over = finished.size >= awaited
    const characters = charactersIn(event)
    return {
      characters,
      ...(usage ? { usage } : {}),
      ...(over ? { finished: true as const } : {}),
      ...(over || candidates.some(hasMore) ? { commits: true as const } : {}),
    }
  }
  return relayedEvents(read, () => NOTHING)
}

function candidatesOf(body: ModelRequest): number {
  const config = asRecord(body.generationConfig ?? body.generation_config)
  const count = config.candidateCount ?? config.candidate_count
  return typeof count === 'number' ? count : 1
}

const partsOf = (candidate: JsonRecord) => asList(asRecord(candidate.content).parts).map(asRecord)

/** Content that has no characters. */
const hasMore = (candidate: JsonRecord) =>
  partsOf(candidate).some(
    ({ functionCall, inlineData, executableCode }) => functionCall || inlineData || executableCode,
  )

function charactersIn(answer: JsonRecord): number {
  let characters = 0
  for (const candidate of asList(answer.candidates).map(asRecord)) {
    for (const { text, functionCall } of partsOf(candidate)) {
      characters += asText(text).length
      if (functionCall) characters += JSON.stringify(functionCall).length
    }
  }
  return characters
}

function withUses(usage: Usage | undefined, toolUses: ToolUses): Usage | undefined {
  return usage && { ...usage, toolUses }
}
