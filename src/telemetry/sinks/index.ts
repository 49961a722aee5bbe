import type { Config } from '../../config/schema.ts'
import type { CallbackName } from '../../config/sections/callback-settings.ts'
import type { Transport } from '../../transport/transport.ts'
import type { Sink } from './sink.ts'
import { webhook } from './webhook.ts'

type Settings = Config['gateway_settings']['callback_settings']

export interface SinkMeans {
  readonly transport: Transport
}

/** Makes each sink from its settings; undefined where nothing is delivered. */
const SINKS: Readonly<Record<CallbackName, (settings: Settings, means: SinkMeans) => Sink | undefined>> = {
  // Its page is scraped.
  prometheus: () => undefined,
  webhook({ webhook: settings }, { transport }) {
    if (!settings?.url || !settings.secret) return undefined
    return webhook({ ...settings, url: settings.url, secret: settings.secret }, transport)
  },
  langfuse: () => undefined,
  otel: () => undefined,
  opentelemetry: () => undefined,
  s3: () => undefined,
}

/** The sinks that `success_callback` switches on. */
export function configuredSinks({ gateway_settings: settings }: Config, means: SinkMeans): Sink[] {
  const names = [...new Set(settings.success_callback)]
  return names.flatMap((name) => SINKS[name](settings.callback_settings, means) ?? [])
}
