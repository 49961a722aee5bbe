import * as z from 'zod'
import { baseModelOf, type ModelEntry, type ModelInfo, resolveModel } from '../../../config/sections/model-list.ts'
import { pricing } from '../../../config/sections/pricing.ts'
import { lazily } from '../../../lib/lazily.ts'
import { MASK } from '../../../lib/secret.ts'
import { withListPrices } from '../../../providers/price-table.ts'
import type { LiveRegistry } from '../../../routing/live/live-registry.ts'
import type { ModelRecord } from '../../../stores/sql/records/model-records.ts'

/** A deployment as the API shows it: secrets are masks. */
export const modelAnswer = lazily(() =>
  z.object({
    deployment_id: z.string(),
    model_name: z.string(),
    source: z.enum(['database', 'file']).describe('Where it is stored; entries of the file are changed in the file.'),
    gateway_params: z.record(z.string(), z.unknown()).describe(`Secrets show as ${MASK}.`),
    has_api_key: z.boolean(),
    model_info: z.record(z.string(), z.unknown()),
    prices: z
      .record(z.string(), z.unknown())
      .describe('The prices in force: those of `model_info`, and those of the price table where it has none.'),
    problem: z
      .string()
      .nullable()
      .describe('Why it takes no calls: it is not valid, such as for a credential that is not there.'),
    version: z.int().nullable().describe('Increases with every change; null for entries of the file.'),
    created_at: z.iso.datetime().nullable(),
    updated_at: z.iso.datetime().nullable(),
  }),
)

export type ModelAnswer = z.output<ReturnType<typeof modelAnswer>>

type Live = Pick<LiveRegistry, 'leftOut'>

export function fromRecord({ sealed: _, credential: __, ...record }: ModelRecord, live: Live): ModelAnswer {
  const { gateway_params, model_info } = record
  return {
    ...record,
    source: 'database',
    has_api_key: gateway_params.api_key !== undefined,
    prices: pricesInForce(gateway_params, model_info),
    problem: live.leftOut().get(record.deployment_id) ?? null,
  }
}

export function fromFile(entry: ModelEntry, live: Live): ModelAnswer {
  const { deployment_id, model_name, gateway_params, model_info } = entry
  const { upstream_model: _, ...params } = gateway_params
  return {
    deployment_id,
    model_name,
    source: 'file',
    // Secrets print themselves as masks.
    gateway_params: JSON.parse(JSON.stringify(params)),
    has_api_key: params.api_key !== undefined,
    model_info,
    prices: pricesInForce(params, model_info),
    problem: live.leftOut().get(deployment_id) ?? null,
    version: null,
    created_at: null,
    updated_at: null,
  }
}

const priceNames = lazily(() => new Set(Object.keys(pricing())))

/** The prices of the deployment's calls. */
function pricesInForce(
  params: Readonly<Record<string, unknown>>,
  info: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { provider: kind = '', upstreamModel } = resolveModel(params.provider, String(params.model))
  const place = { ...params, base_model: baseModelOf(kind, params.base_model) }
  const priced = withListPrices(kind, upstreamModel, info as ModelInfo, place)
  return Object.fromEntries(Object.entries(priced).filter(([name]) => priceNames().has(name)))
}
