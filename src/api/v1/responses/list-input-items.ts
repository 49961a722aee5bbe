import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { asText, entryOf, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { openaiList, openaiPage } from '../openai-list.ts'
import { keptResponse, responseParams } from './kept.ts'

const MOST = 100
const DEFAULT = 20

export const listInputItems = defineRoute(
  {
    method: 'get',
    path: '/v1/responses/{response_id}/input_items',
    summary: 'The items that led to a kept response, those of the conversation that it continued among them.',
    tag: 'Models',
    auth: 'caller',
    params: responseParams,
    query: () =>
      z.object({
        limit: z.coerce.number().int().min(1).max(MOST).default(DEFAULT),
        after: z.string().optional().describe('The id of the last item of the page before.'),
        order: z.enum(['asc', 'desc']).default('desc').describe('By their place in the conversation.'),
      }),
    responses: {
      200: { description: 'One page.', schema: () => openaiList(() => z.looseObject({ id: z.string() })) },
    },
  },
  async ({ services, caller, input: { params, query } }) => {
    const { input } = await keptResponse(services, caller(), params.response_id)
    const items = input.map((item) => ({ ...withWholeParts(item), id: asText(item.id) }))
    if (query.order === 'desc') items.reverse()
    const from = query.after === undefined ? 0 : items.findIndex(({ id }) => id === query.after) + 1
    if (query.after !== undefined && from === 0) {
      throw new GatewayError('invalid_request', "There is no item of the id 'after'.", { param: 'after' })
    }
    return json(openaiPage(items.slice(from, from + query.limit + 1), query.limit))
  },
)

/** What clients read in every part of a kind, and a request may leave out. */
const USUAL: Readonly<Record<string, object>> = {
  input_image: { detail: 'auto' },
  output_text: { annotations: [], logprobs: [] },
}

function withWholeParts(item: JsonRecord): JsonRecord {
  const { content, output } = item
  const whole = (part: unknown) => (isRecord(part) ? { ...entryOf(USUAL, part.type), ...part } : part)
  return {
    ...item,
    ...(Array.isArray(content) ? { content: content.map(whole) } : {}),
    ...(Array.isArray(output) ? { output: output.map(whole) } : {}),
  }
}
