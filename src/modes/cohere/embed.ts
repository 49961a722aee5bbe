import * as z from 'zod'
import { GatewayError } from '../../lib/errors.ts'
import { asList, asRecord, asText } from '../../lib/json/lenient.ts'
import { lazily } from '../../lib/lazily.ts'
import { embedding } from '../embedding.ts'
import { adapted, applyTable, carried, type FieldTable, hint, unruled } from '../field-table.ts'
import type { Mode, ModelRequest } from '../mode.ts'
import { tokensOfCharacters } from '../usage.ts'

const input = () => z.looseObject({ content: z.array(z.looseObject({ type: z.string() })) })

const cohereEmbedRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    texts: z.array(z.string()).min(1).nullish().describe('The texts.'),
    inputs: z.array(input()).min(1).nullish().describe('Texts and images, by parts.'),
    images: z.array(z.string()).min(1).nullish(),
    input_type: z.string().nullish(),
    embedding_types: z.array(z.string()).nullish().describe('float, base64, int8 …'),
    output_dimension: z.int().min(1).nullish(),
    truncate: z.string().nullish(),
  }),
)
export type CohereEmbedRequest = z.output<ReturnType<typeof cohereEmbedRequest>>

/** What becomes of its fields at other vendors. */
export const COHERE_EMBED_FIELDS: FieldTable = {
  model: carried(),
  texts: carried('input'),
  inputs: adapted('texts alone', 'input'),
  images: adapted('refused'),
  embedding_types: adapted('one of `float` and `base64`', 'encoding_format'),
  output_dimension: carried('dimensions'),
  input_type: hint(),
  truncate: hint(['END']),
  max_tokens: hint(),
  priority: hint(),
  metadata: adapted("the gateway's own"),
}

const TYPES = ['float', 'base64'] as const

/** Embeddings in the shape of Cohere's version 2. */
export const cohereEmbed: Mode<CohereEmbedRequest> = {
  ...embedding,
  operation: 'cohere_embed',
  schema: cohereEmbedRequest,
  inputs: (request) => partsOf(request).length,
  unreported(request) {
    const characters = partsOf(request).map((part) => tokensOfCharacters(part.text.length))
    return { inputTokens: characters.reduce((sum, tokens) => sum + tokens, 0), outputTokens: 0 }
  },
  shape: {
    request(body, drop) {
      applyTable(body, COHERE_EMBED_FIELDS, { drop, refuse: () => {} })
      const { model, texts: _texts, output_dimension, ...rest } = body as CohereEmbedRequest
      const wrong = partsOf(body).find(({ isText }) => !isText)
      if (wrong) throw refused(wrong.param, 'An image')
      const input = partsOf(body).map(({ text }) => text)
      if (input.length === 0) throw refused('texts', 'A request without texts')
      return {
        ...unruled(rest, COHERE_EMBED_FIELDS),
        ...{ model, input, encoding_format: typeOf(body) },
        ...(output_dimension == null ? {} : { dimensions: output_dimension }),
      }
    },
    answer({ data, usage, id }, request) {
      const { prompt_tokens = 0 } = asRecord(usage) as { prompt_tokens?: number }
      return {
        id: asText(id) || 'embed',
        response_type: 'embeddings_by_type',
        embeddings: { [typeOf(request)]: asList(data).map((one) => asRecord(one).embedding) },
        texts: partsOf(request).map(({ text }) => text),
        meta: { api_version: { version: '2' }, billed_units: { input_tokens: prompt_tokens } },
      }
    },
  },
}

interface Part {
  readonly text: string
  readonly isText: boolean
  readonly param: string
}

/** What is embedded: texts, and inputs of parts. */
function partsOf({ texts, inputs, images }: ModelRequest): Part[] {
  const text = (one: unknown, index: number) => ({ text: asText(one), isText: true, param: `texts.${index}` })
  const ofInput = (one: unknown, index: number) => {
    const parts = asList(asRecord(one).content).map(asRecord)
    const said = parts.map((part) => asText(part.text)).join('\n')
    return { text: said, isText: parts.every(({ type }) => type === 'text'), param: `inputs.${index}` }
  }
  const image = (_: unknown, index: number) => ({ text: '', isText: false, param: `images.${index}` })
  return [...asList(texts).map(text), ...asList(inputs).map(ofInput), ...asList(images).map(image)]
}

function typeOf({ embedding_types: types }: ModelRequest): (typeof TYPES)[number] {
  const [first, ...more] = asList(types)
  const type = TYPES.find((one) => one === (first ?? 'float'))
  if (!type || more.length > 0) throw refused('embedding_types', 'This, or several of them,')
  return type
}

function refused(param: string, what: string): GatewayError {
  const message = `${param}: ${what} cannot be asked of the provider of this model. Choose a model of Cohere.`
  return new GatewayError('invalid_request', message, { param, code: 'unsupported_parameter' })
}
