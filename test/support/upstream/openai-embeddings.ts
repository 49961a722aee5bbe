import { seededRandom } from '../random.ts'
import { countTokens } from './openai-chat.ts'

export interface EmbeddingsRequest {
  readonly model: string
  readonly input?: string | readonly string[] | readonly number[] | readonly (readonly number[])[]
  readonly encoding_format?: 'float' | 'base64'
  readonly dimensions?: number
}

/** `POST /v1/embeddings`: the same vector for the same input, in either encoding. */
export function embeddingsReply(request: EmbeddingsRequest, model = request.model): string {
  const inputs = inputsOf(request.input ?? '')
  const tokens = inputs.reduce<number>((sum, one) => sum + (typeof one === 'string' ? countTokens(one) : one.length), 0)
  const data = inputs.map((input, index) => {
    const vector = vectorOf(JSON.stringify(input), request.dimensions ?? 8)
    const embedding = request.encoding_format === 'base64' ? base64(vector) : Array.from(vector)
    return { object: 'embedding', index, embedding }
  })
  return JSON.stringify({ object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } })
}

function inputsOf(input: NonNullable<EmbeddingsRequest['input']>): readonly (string | readonly number[])[] {
  if (typeof input === 'string') return [input]
  return typeof input[0] === 'number' ? [input as readonly number[]] : (input as readonly string[])
}

function vectorOf(text: string, dimensions: number): Float32Array {
  const random = seededRandom([...text].reduce((seed, letter) => Math.imul(seed, 31) + (letter.codePointAt(0) ?? 0), 7))
  return Float32Array.from({ length: dimensions }, () => random.next() * 2 - 1)
}

function base64(vector: Float32Array): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4))
  for (const [index, value] of vector.entries()) view.setFloat32(index * 4, value, true)
  return btoa(String.fromCharCode(...new Uint8Array(view.buffer)))
}
