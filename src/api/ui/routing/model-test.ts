import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { MODEL_MODES } from '../../../config/sections/model-list.ts'
import { asAbortSignal } from '../../../lib/abort.ts'
import { lazily } from '../../../lib/lazily.ts'
import { dollarsOf } from '../../../lib/money.ts'
import type { Usage } from '../../../modes/usage.ts'
import { translatorOf } from '../../../pipeline/translate/translator.ts'
import { tryDeployment } from '../../../pipeline/trial/trial.ts'
import { providers } from '../../../providers/index.ts'
import { modelEntry } from '../../../routing/configuration.ts'
import type { Deployment } from '../../../routing/deployment.ts'
import { deploymentOf } from '../../../routing/registry.ts'
import { entryOfDraft } from '../../../routing/stored-model.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { isStorable } from '../../storable.ts'
import { MODEL_ENDPOINTS } from '../../v1/model-endpoints.ts'
import { shownFailure, trialFailure } from '../providers/trial-failure.ts'

const options = lazily(() =>
  z.strictObject({
    mode: z
      .enum(MODEL_MODES)
      .optional()
      .describe('The kind of request to ask with; default: `model_info.mode`, or the first that the provider serves.'),
    stream: z.boolean().default(true).describe('Ask for a stream where the provider streams this kind of request.'),
    request: z
      .record(z.string(), z.unknown())
      .default({})
      .describe('Fields of the request, which win over those of the smallest one.'),
    timeout_seconds: z.number().positive().max(120).default(30),
  }),
)

const usage = lazily(() =>
  z.object({
    input_tokens: z.int(),
    output_tokens: z.int(),
    cached_input_tokens: z.int(),
    reasoning_tokens: z.int(),
    images: z.int(),
    audio_seconds: z.number(),
    characters: z.int(),
    rerank_units: z.int(),
  }),
)

const answer = lazily(() =>
  z.object({
    ok: z.boolean(),
    mode: z.enum(MODEL_MODES),
    streamed: z.boolean(),
    address: z.string().nullable().describe('Where the last request went; null if none was sent.'),
    status: z.int().nullable().describe("The provider's HTTP status."),
    first_token_ms: z.int().nullable(),
    total_ms: z.int(),
    model: z.string().nullable().describe('The model that the provider says it is.'),
    usage: usage().nullable().describe('Null if the provider reported none: it will be estimated.'),
    cost: z.number().nullable().describe('US dollars; null if the usage or the price is unknown.'),
    failure: trialFailure().nullable(),
  }),
)

export const testModel = defineRoute(
  {
    method: 'post',
    path: '/ui/api/models/test',
    summary: 'Asks a deployment that is not saved one small request, as a call would. Nothing is kept of it.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.update',
    action: 'model.test',
    json: () =>
      modelEntry().safeExtend({
        test: options().optional().describe('How to ask. Images, speech and recordings cost what they cost.'),
      }),
    responses: { 200: { description: 'What came back, or what is wrong.', schema: answer } },
  },
  async ({ services, client, footprint, input, audits }) => {
    const { test, deployment_id: id, ...draft } = input.json
    audits({ resource_id: id ?? draft.model_name })
    const earlier = id !== undefined && isStorable(id) ? await services.records.models.find(id) : undefined
    const { entry } = await entryOfDraft(id ?? draft.model_name, draft, services, earlier)
    const deployment = deploymentOf(entry, providers)
    const { mode, stream, request, timeout_seconds } = options().parse(test ?? {})
    const endpoint = endpointFor(deployment, mode ?? deployment.info.mode)
    const trial = await tryDeployment(services, deployment, {
      endpoint,
      streamed: stream,
      fields: request,
      timeoutMs: 1000 * timeout_seconds,
      signal: asAbortSignal(client.signal),
      footprint,
    })
    const { failure, firstTokenMs, totalMs, costNano, usage: used, ...told } = trial
    return json({
      ok: failure === undefined,
      mode: endpoint.mode.name,
      streamed: told.streamed,
      address: told.address,
      status: told.status,
      first_token_ms: firstTokenMs === null ? null : Math.round(firstTokenMs),
      total_ms: Math.round(totalMs),
      model: told.model,
      usage: used ? shownUsage(used) : null,
      cost: costNano === undefined ? null : dollarsOf(costNano),
      failure: failure ? shownFailure(failure) : null,
    })
  },
)

/** The endpoint of the mode; without one, the first that the deployment serves. */
function endpointFor(deployment: Deployment, mode: (typeof MODEL_MODES)[number] | undefined) {
  const endpoint = MODEL_ENDPOINTS.find((one) =>
    mode === undefined ? translatorOf(deployment, one.mode, one.dialect) : one.mode.name === mode,
  )
  if (!endpoint) throw mistake('gateway_params.provider', 'serves no kind of request with this model')
  return endpoint
}

function shownUsage(used: Usage): z.output<ReturnType<typeof usage>> {
  return {
    input_tokens: used.inputTokens,
    output_tokens: used.outputTokens,
    cached_input_tokens: used.cachedInputTokens,
    reasoning_tokens: used.reasoningTokens,
    images: used.images,
    audio_seconds: used.audioSeconds,
    characters: used.characters,
    rerank_units: used.rerankUnits,
  }
}
