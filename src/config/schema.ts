import type * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import { evenIfBroken, section } from './fields.ts'
import { mistakesInGroupNames } from './group-names.ts'
import type { Registries } from './registered.ts'
import { gatewaySettings } from './sections/gateway-settings.ts'
import { generalSettings } from './sections/general-settings.ts'
import * as models from './sections/model-list.ts'
import * as router from './sections/router-settings.ts'

/** The configuration's schemas for the given providers and strategies, each built at first use. */
export function schemasOf({ providers, strategies }: Registries) {
  const routerSettings = lazily(() => router.routerSettings(strategies))
  const gatewayParams = lazily(() => models.gatewayParams(providers))
  const credentialEntry = lazily(() => models.credentialEntry(providers))
  const modelEntry = lazily(() => models.modelEntry(gatewayParams(), providers))
  /** The configuration file: parses a YAML tree with resolved references, and wraps secrets. */
  const config = lazily(() =>
    section({
      general_settings: generalSettings()
        .prefault({})
        .describe('Keys, stores, accounts and limits of the gateway itself.'),
      router_settings: routerSettings()
        .prefault({})
        .describe('How a deployment is picked, and what happens when it fails.'),
      gateway_settings: gatewaySettings().prefault({}).describe('Fallback chains, callbacks and managed tools.'),
      model_list: models
        .modelList(modelEntry())
        .default([])
        .describe('The deployments; entries that share a model_name form one group.'),
    }).superRefine((written, context) => {
      for (const { path, message } of mistakesInGroupNames(written)) context.addIssue({ code: 'custom', path, message })
    }, evenIfBroken),
  )
  return { config, routerSettings, gatewayParams, credentialEntry, modelEntry }
}

export type ConfigSchema = ReturnType<ReturnType<typeof schemasOf>['config']>
export type Config = z.output<ConfigSchema>
