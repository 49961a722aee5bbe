import * as z from 'zod'
import { callableNames } from '../../../identity/callable-names.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import { modelNotFound } from '../../../pipeline/plan/model-not-found.ts'
import type { Group } from '../../../routing/deployment.ts'
import type { Registry } from '../../../routing/registry.ts'
import { tokenLimits } from '../../../routing/token-limits.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { ofGemini } from './gemini-route.ts'

export const geminiModel = lazily(() =>
  z.object({
    name: z.string(),
    version: z.string(),
    displayName: z.string(),
    inputTokenLimit: z.int().optional(),
    outputTokenLimit: z.int().optional(),
    supportedGenerationMethods: z.array(z.string()),
  }),
)

/** The methods of each kind of model. One without a kind takes all of them. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  chat: ['generateContent', 'countTokens'],
  embedding: ['embedContent', 'batchEmbedContents'],
}

export function geminiEntry(name: string, group: Group | undefined): z.output<ReturnType<typeof geminiModel>> {
  const infos = group?.deployments.map(({ info }) => info) ?? []
  const modes = new Set(infos.flatMap(({ mode }) => mode ?? Object.keys(METHODS)))
  const { input, output } = tokenLimits(group)
  return {
    name: `models/${name}`,
    version: '001',
    displayName: name,
    ...(input === undefined ? {} : { inputTokenLimit: input }),
    ...(output === undefined ? {} : { outputTokenLimit: output }),
    supportedGenerationMethods: [...modes].flatMap((mode) => METHODS[mode] ?? []),
  }
}

const MOST = 1000

interface PageQuery {
  readonly pageSize?: unknown
  readonly pageToken?: unknown
}

/** The page of models that a client of Gemini's API asks for. */
export function geminiPage(registry: Registry, names: readonly string[], query: PageQuery): object {
  const from = countIn(query, 'pageToken')
  const end = from + Math.min(countIn(query, 'pageSize') || MOST, MOST)
  const models = names.slice(from, end).map((name) => geminiEntry(name, registry.resolve(name)))
  return { models, ...(end < names.length ? { nextPageToken: String(end) } : {}) }
}

function countIn(query: PageQuery, param: keyof PageQuery): number {
  const count = Number(query[param] ?? 0)
  if (Number.isInteger(count) && count >= 0) return count
  throw new GatewayError('invalid_request', `'${param}' must be a whole number.`, { param })
}

export const listGeminiModels = defineRoute(
  {
    ...ofGemini,
    method: 'get',
    path: '/v1beta/models',
    summary: "The models that the caller may use, in the shape of Gemini's API.",
    query: () =>
      z.object({
        key: z.string().optional().describe('The API key, for clients that send no header.'),
        pageSize: z.coerce.number().int().min(0).optional(),
        pageToken: z.string().regex(/^\d*$/).optional(),
      }),
    responses: {
      200: {
        description: 'A page of the list.',
        schema: () => z.object({ models: z.array(geminiModel()), nextPageToken: z.string().optional() }),
      },
    },
  },
  ({ services: { registry }, caller, input: { query } }) =>
    json(geminiPage(registry, callableNames(registry, caller().mayCall), query)),
)

export const getGeminiModel = defineRoute(
  {
    ...ofGemini,
    method: 'get',
    path: '/v1beta/models/{model}',
    open: true,
    summary: "One model, in the shape of Gemini's API.",
    params: () => z.object({ model: z.string() }),
    responses: { 200: { description: 'The model.', schema: geminiModel } },
  },
  ({ services: { registry }, caller, input }) => {
    const { model } = input.params
    const group = registry.resolve(model)
    if (group && caller().mayCall(group)) return json(geminiEntry(model, group))
    throw modelNotFound(registry, model)
  },
)
