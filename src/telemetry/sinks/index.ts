import type { Config } from '../../config/schema.ts'
import { type CallbackName, otelDefaults } from '../../config/sections/callback-settings.ts'
import type { Log } from '../../lib/log.ts'
import type { Transport } from '../../transport/transport.ts'
import type { SinkMoved } from '../events.ts'
import { bufferedLane } from './buffered-lane.ts'
import { langfuse } from './langfuse.ts'
import { otlp } from './otlp/otlp.ts'
import type { Sink, SinkLane } from './sink.ts'
import { type Sinks, sinksOf } from './sinks.ts'
import type { Tally } from './tally.ts'
import { webhook } from './webhook.ts'

type Settings = Config['gateway_settings']['callback_settings']

interface SinkMeans {
  readonly transport: Transport
}

/** Makes the sinks of each callback from its settings; undefined where nothing is delivered. */
const SINKS: Readonly<Record<CallbackName, (settings: Settings, means: SinkMeans) => Sink | Sink[] | undefined>> = {
  // Its page is scraped.
  prometheus: () => undefined,
  webhook({ webhook: settings }, { transport }) {
    if (!settings?.url || !settings.secret) return undefined
    return webhook({ ...settings, url: settings.url, secret: settings.secret }, transport)
  },
  langfuse({ langfuse: settings }, { transport }) {
    const { host, public_key: publicKey, secret_key: secretKey } = settings ?? {}
    return host && publicKey && secretKey ? langfuse({ host, publicKey, secretKey }, transport) : undefined
  },
  otel: ({ otel = otelDefaults() }, { transport }) => otlp('otel', otel, transport),
  opentelemetry: ({ opentelemetry = otelDefaults() }, { transport }) => otlp('opentelemetry', opentelemetry, transport),
  s3: () => undefined,
}

/** The sinks that `success_callback` switches on. */
export function configuredSinks(
  { gateway_settings: settings }: Config,
  {
    transport,
    laneOf = bufferedLane,
    ...means
  }: SinkMeans & {
    /** Where events do not wait in this process. */
    readonly laneOf?: ((sink: Sink, counts: Tally) => SinkLane) | undefined
    readonly log: Log
    readonly report: (event: SinkMoved) => void
  },
): Sinks {
  const names = [...new Set(settings.success_callback)]
  const sinks = names.flatMap((name) => SINKS[name](settings.callback_settings, { transport }) ?? [])
  return sinksOf(sinks, { ...means, laneOf })
}
