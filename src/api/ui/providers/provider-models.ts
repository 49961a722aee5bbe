import * as z from 'zod'
import { MODEL_MODES } from '../../../config/sections/model-list.ts'
import { asAbortSignal } from '../../../lib/abort.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import { listModels } from '../../../pipeline/trial/list-models.ts'
import { providers } from '../../../providers/index.ts'
import { priceRowOf } from '../../../providers/price-table.ts'
import { deploymentOf } from '../../../routing/registry.ts'
import { entryOfDraft } from '../../../routing/stored-model.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { isStorable, storable } from '../../storable.ts'
import { shownFailure, trialFailure } from './trial-failure.ts'

const TIMEOUT_MS = 15_000

const answer = lazily(() =>
  z.object({
    listed: z.boolean().describe('False where the provider has no list, or did not answer: type the name then.'),
    reason: z.string().nullable().describe('Why there is no list, where the provider has none.'),
    failure: trialFailure().nullable(),
    address: z.string().nullable().describe('Where the list was asked for.'),
    models: z.array(
      z.object({
        id: z.string().describe('What follows `<provider>/` in `gateway_params.model`.'),
        name: z.string().nullable(),
        mode: z.enum(MODEL_MODES).nullable().describe('The kind of requests that it takes, where the provider tells.'),
        priced: z.boolean().describe('The price table has it.'),
      }),
    ),
  }),
)

export const providerModels = defineRoute(
  {
    method: 'post',
    path: '/ui/api/providers/{kind}/models',
    summary: 'The models that a provider lists for the credentials of a draft.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.update',
    action: 'provider.list_models',
    params: () => z.object({ kind: z.string() }),
    json: () =>
      z.strictObject({
        deployment_id: storable()
          .max(256)
          .optional()
          .describe('The stored deployment whose secrets the masks of the draft stand for.'),
        gateway_params: z.record(z.string(), z.unknown()).default({}).describe('As of a deployment; without `model`.'),
      }),
    responses: { 200: { description: 'The models, or why there are none.', schema: answer } },
  },
  async ({ services, client, input, audits }) => {
    const { kind } = input.params
    const provider = providers.get(kind)
    if (!provider) throw new GatewayError('not_found', 'There is no provider of this kind.', { param: 'kind' })
    const { deployment_id: id, gateway_params: params = {} } = input.json
    audits({ resource_id: kind })
    const earlier = id !== undefined && isStorable(id) ? await services.records.models.find(id) : undefined
    const draft = { model_name: kind, gateway_params: { model: `${kind}/any`, ...params, provider: kind } }
    const { entry } = await entryOfDraft(id ?? kind, draft, services, earlier)
    const deployment = deploymentOf(entry, providers)
    const result = await listModels(services, deployment, {
      timeoutMs: TIMEOUT_MS,
      signal: asAbortSignal(client.signal),
    })
    return json({
      listed: result.models !== undefined,
      reason: result.reason ?? null,
      failure: result.failure ? shownFailure(result.failure) : null,
      address: result.address,
      models: (result.models ?? []).map(({ id, name = null, mode = null }) => ({
        id,
        name,
        mode,
        priced: priceRowOf(kind, id) !== undefined,
      })),
    })
  },
)
