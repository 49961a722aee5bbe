import * as z from 'zod'
import { callableNames } from '../../identity/callable-names.ts'
import { lazily } from '../../lib/lazily.ts'
import { modelNotFound } from '../../pipeline/plan/model-not-found.ts'
import type { Group } from '../../routing/deployment.ts'
import { tokenLimits } from '../../routing/token-limits.ts'
import { geminiErrorBody } from '../dialects/gemini/errors.ts'
import { messagesErrorBody } from '../dialects/messages/errors.ts'
import { errorBody } from '../failures.ts'
import { json } from '../respond.ts'
import { defineRoute, type RouteContract } from '../route.ts'
import { geminiEntry, geminiModel, geminiPage } from './gemini/models.ts'
import { messagesPage, messagesPageQuery } from './messages-page.ts'

const modelEntry = lazily(() =>
  z.object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
    context_length: z.int().optional().describe('The longest input in tokens, where its operator has said it.'),
    max_completion_tokens: z.int().optional().describe('The longest answer in tokens, likewise.'),
  }),
)

/** The gateway does not know when a model was made, but clients require a number. */
const CREATED = 1_700_000_000

function entry(id: string, group: Group | undefined): z.output<ReturnType<typeof modelEntry>> {
  const owner = group?.deployments.find(({ info }) => info.owned_by !== undefined)?.info.owned_by
  const { input, output } = tokenLimits(group)
  return {
    ...{ id, object: 'model', created: CREATED, owned_by: owner ?? 'gateway' },
    ...(input === undefined ? {} : { context_length: input }),
    ...(output === undefined ? {} : { max_completion_tokens: output }),
  }
}

/** A model as the clients of the Messages API know it. */
const messagesEntry = lazily(() =>
  z.object({
    type: z.literal('model'),
    id: z.string(),
    display_name: z.string(),
    created_at: z.string(),
    max_input_tokens: z.int().nullable(),
    max_tokens: z.int().nullable(),
  }),
)

function asMessagesEntry(id: string, group: Group | undefined): z.output<ReturnType<typeof messagesEntry>> {
  const { input = null, output = null } = tokenLimits(group)
  const created_at = new Date(1000 * CREATED).toISOString()
  return { type: 'model', id, display_name: id, created_at, max_input_tokens: input, max_tokens: output }
}

/** Clients of the Messages API name its version, or show their credential in its header. */
const isOfMessages = (header: (name: string) => string | undefined) =>
  header('anthropic-version') !== undefined || header('x-api-key') !== undefined

/** Clients of Gemini's API show their credential in its header. Its newest ones ask below `/v1`. */
const isOfGemini = (header: (name: string) => string | undefined) => header('x-goog-api-key') !== undefined

/** Failures are told in the same shape as models. */
const errorBodyFor: RouteContract['errorBody'] = (error, requestId, header) => {
  if (isOfGemini(header)) return geminiErrorBody(error)
  return isOfMessages(header) ? messagesErrorBody(error, requestId) : errorBody(error)
}

const credentialHeader = ['x-api-key', 'api-key', 'x-goog-api-key']

const pageQuery = () =>
  messagesPageQuery().extend({
    pageSize: z.string().optional().describe("For clients of Gemini's API: models of a page."),
    pageToken: z.string().optional().describe("For clients of Gemini's API: the page."),
  })

export const listModels = defineRoute(
  {
    method: 'get',
    path: '/v1/models',
    summary:
      'The models that the caller may use, by name; in the shape of the Messages API or of Gemini for their clients.',
    tag: 'Models',
    auth: 'caller',
    query: pageQuery,
    responses: {
      200: {
        description: 'The list.',
        schema: () =>
          z.union([
            z.object({ object: z.literal('list'), data: z.array(modelEntry()) }),
            z.object({
              data: z.array(messagesEntry()),
              has_more: z.boolean(),
              first_id: z.string().nullable(),
              last_id: z.string().nullable(),
            }),
            z.object({ models: z.array(geminiModel()), nextPageToken: z.string().optional() }),
          ]),
      },
    },
    errorBody: errorBodyFor,
    credentialHeader,
  },
  ({ services: { registry }, caller, input: { query }, header }) => {
    const names = callableNames(registry, caller().mayCall)
    if (isOfGemini(header)) return json(geminiPage(registry, names, query))
    if (isOfMessages(header)) {
      const { page, hasMore } = messagesPage(names, query)
      const ends = { first_id: page[0] ?? null, last_id: page.at(-1) ?? null }
      const data = page.map((name) => asMessagesEntry(name, registry.resolve(name)))
      return json({ data, has_more: hasMore, ...ends })
    }
    return json({ object: 'list', data: names.map((name) => entry(name, registry.resolve(name))) })
  },
)

export const getModel = defineRoute(
  {
    method: 'get',
    path: '/v1/models/{model}',
    // The Python client sends names such as vendor/model without encoding the slash.
    open: true,
    summary: 'One model.',
    tag: 'Models',
    auth: 'caller',
    params: () => z.object({ model: z.string() }),
    responses: {
      200: { description: 'The model.', schema: () => z.union([modelEntry(), messagesEntry(), geminiModel()]) },
    },
    errorBody: errorBodyFor,
    credentialHeader,
  },
  ({ services: { registry }, caller, input, header }) => {
    const { model } = input.params
    const group = registry.resolve(model)
    if (group && caller().mayCall(group)) {
      if (isOfGemini(header)) return json(geminiEntry(model, group))
      return json(isOfMessages(header) ? asMessagesEntry(model, group) : entry(model, group))
    }
    throw modelNotFound(registry, model)
  },
)
