import { base64Text } from '../../lib/bytes/base64.ts'
import { latin1Text } from '../../lib/bytes/latin1.ts'
import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { EmbeddingRequest } from '../../modes/embedding.ts'
import type { Usage } from '../../modes/usage.ts'
import type { Reply } from '../provider.ts'
import { unsupported } from './unsupported-fields.ts'

/** Numbers, or base64. */
type Vector = string | readonly unknown[]

const encoder = new TextEncoder()

/** The public list of embeddings from a vendor's vectors. Numbers become base64 if the client asked for it. */
export function embeddingList(
  vectors: readonly unknown[],
  { model: asked, encoding_format, input }: EmbeddingRequest,
  usage: Usage | undefined,
  model: unknown = asked,
): Reply {
  if (!vectors.every(isVector)) {
    throw new GatewayError('upstream_malformed', "The provider's answer has something else than embeddings.")
  }
  // Some vendors skip texts without a result, which would assign the following vectors to the wrong texts.
  if (vectors.length !== [input].flat().length) {
    throw new GatewayError('unusable_answer', "The provider's answer does not hold one embedding for each text.")
  }
  const data = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: encoding_format === 'base64' ? asBase64(vector) : vector,
  }))
  const prompt_tokens = usage?.inputTokens ?? 0
  const list = { object: 'list', data, model, usage: { prompt_tokens, total_tokens: prompt_tokens } }
  return { bytes: encoder.encode(JSON.stringify(list)), contentType: 'application/json', usage, outputCharacters: 0 }
}

const HEAD_BYTES = 4096
const NUMBERS = /"embedding"\s*:\s*\[/

/** A list of embeddings with its numbers as base64; undefined if it begins with none. */
export function inBase64(bytes: Uint8Array): Uint8Array | undefined {
  if (!NUMBERS.test(latin1Text(bytes.subarray(0, HEAD_BYTES)))) return undefined
  const list = parseRecord(bytes)
  const data = asList(list?.data).map((one) => {
    const { embedding, ...more } = asRecord(one)
    return { ...more, embedding: Array.isArray(embedding) ? asBase64(embedding) : embedding }
  })
  return encoder.encode(JSON.stringify({ ...list, data }))
}

/** The texts of a request, for vendors that do not accept tokens. */
export function textsOf({ input }: EmbeddingRequest, api: string): string[] {
  const list = typeof input === 'string' ? [input] : input
  return list.map((text) => {
    if (typeof text === 'string') return text
    throw unsupported('input', api, 'Send text instead of tokens.')
  })
}

function isVector(value: unknown): value is Vector {
  return Array.isArray(value) || typeof value === 'string'
}

/** 32-bit floats, little-endian, as clients of the public shape read them. */
function asBase64(vector: Vector): string {
  if (typeof vector === 'string') return vector
  const view = new DataView(new ArrayBuffer(4 * vector.length))
  for (const [index, value] of vector.entries()) view.setFloat32(4 * index, Number(value), true)
  return base64Text(new Uint8Array(view.buffer))
}
