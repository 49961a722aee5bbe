import * as z from 'zod'
import { callableNames } from '../../identity/callable-names.ts'
import { lazily } from '../../lib/lazily.ts'
import { modelNotFound } from '../../pipeline/plan/model-not-found.ts'
import type { Group } from '../../routing/deployment.ts'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'

const modelEntry = lazily(() =>
  z.object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
  }),
)

/** The gateway does not know when a model was made, but clients require a number. */
const CREATED = 1_700_000_000

function entry(id: string, group: Group | undefined): z.output<ReturnType<typeof modelEntry>> {
  const owner = group?.deployments.find(({ info }) => info.owned_by !== undefined)?.info.owned_by
  return { id, object: 'model', created: CREATED, owned_by: owner ?? 'gateway' }
}

export const listModels = defineRoute(
  {
    method: 'get',
    path: '/v1/models',
    summary: 'The models that the caller may use, by name.',
    tag: 'Models',
    auth: 'caller',
    responses: {
      200: {
        description: 'The list.',
        schema: () => z.object({ object: z.literal('list'), data: z.array(modelEntry()) }),
      },
    },
  },
  ({ services: { registry }, caller }) => {
    const { mayCall } = caller()
    return json({
      object: 'list',
      data: callableNames(registry, mayCall).map((name) => entry(name, registry.resolve(name))),
    })
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
    responses: { 200: { description: 'The model.', schema: modelEntry } },
  },
  ({ services: { registry }, caller, input }) => {
    const { model } = input.params
    const group = registry.resolve(model)
    if (group && caller().mayCall(group)) return json(entry(model, group))
    throw modelNotFound(model)
  },
)
