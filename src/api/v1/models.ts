import * as z from 'zod'
import { GatewayError } from '../../lib/errors.ts'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'

const modelEntry = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
})

/** When a model was made is not ours to know; clients want a number. */
const CREATED = 1_700_000_000

function entry(id: string): z.output<typeof modelEntry> {
  return { id, object: 'model', created: CREATED, owned_by: 'gateway' }
}

export const listModels = defineRoute(
  {
    method: 'get',
    path: '/v1/models',
    summary: 'The models that the caller may use, by name.',
    tag: 'Models',
    auth: 'caller',
    responses: {
      200: { description: 'The list.', schema: z.object({ object: z.literal('list'), data: z.array(modelEntry) }) },
    },
  },
  ({ services }) => json({ object: 'list', data: services.registry.names.map(entry) }),
)

export const getModel = defineRoute(
  {
    method: 'get',
    path: '/v1/models/{model}',
    summary: 'One model.',
    tag: 'Models',
    auth: 'caller',
    params: z.object({ model: z.string() }),
    responses: { 200: { description: 'The model.', schema: modelEntry } },
  },
  ({ services, input }) => {
    const { model } = input.params
    if (services.registry.names.includes(model)) return json(entry(model))
    throw new GatewayError('model_not_found', `The model '${model}' does not exist or you do not have access to it.`, {
      param: 'model',
    })
  },
)
