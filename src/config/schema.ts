import type * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import { evenIfBroken, section } from './fields.ts'
import { mistakesInGroupNames } from './group-names.ts'
import { gatewaySettings } from './sections/gateway-settings.ts'
import { generalSettings } from './sections/general-settings.ts'
import { modelList } from './sections/model-list.ts'
import { routerSettings } from './sections/router-settings.ts'

/** The configuration file. Input is what YAML gives, with environment references resolved; secrets come out sealed. */
export const configSchema = lazily(() =>
  section({
    general_settings: generalSettings()
      .prefault({})
      .describe('Keys, stores, accounts and limits of the gateway itself.'),
    router_settings: routerSettings()
      .prefault({})
      .describe('How a deployment is picked, and what happens when it fails.'),
    gateway_settings: gatewaySettings().prefault({}).describe('Fallback chains, callbacks and managed tools.'),
    model_list: modelList().default([]).describe('The deployments; entries that share a model_name form one group.'),
  }).superRefine((config, context) => {
    for (const { path, message } of mistakesInGroupNames(config)) context.addIssue({ code: 'custom', path, message })
  }, evenIfBroken),
)

export type Config = z.output<ReturnType<typeof configSchema>>
