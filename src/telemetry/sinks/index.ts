import type { Config } from '../../config/schema.ts'
import { type CallbackName, type CallbackSettings, otelDefaults } from '../../config/sections/callback-settings.ts'
import type { Log } from '../../lib/log.ts'
import { reveal } from '../../lib/secret.ts'
import type { Transport } from '../../transport/transport.ts'
import type { SinkMoved } from '../events.ts'
import { configuredS3 } from './configured-s3.ts'
import { bufferedLane } from './lanes/buffered-lane.ts'
import type { Tally } from './lanes/tally.ts'
import { langfuse } from './langfuse.ts'
import { otlp } from './otlp/otlp.ts'
import type { ObjectWriter } from './s3-objects.ts'
import type { Sink, SinkLane } from './sink.ts'
import { type Sinks, sinksOf } from './sinks.ts'
import { webhook } from './webhook.ts'

interface SinkMeans {
  readonly transport: Transport
  /** A bucket that the runtime itself is bound to. */
  readonly boundBucket?: ObjectWriter | undefined
  /** Where a runtime bounds it: how many posts of an event may wait for their answers at once. */
  readonly callsAtOnce?: number | undefined
}

/** Makes the sinks of each callback from its settings; undefined where nothing is delivered. */
const SINKS: {
  readonly [Name in CallbackName]: (settings: CallbackSettings[Name], means: SinkMeans) => Sink | Sink[] | undefined
} = {
  // Its page is scraped.
  prometheus: () => undefined,
  webhook(settings, { transport, callsAtOnce }) {
    if (!settings?.url || !settings.secret) return undefined
    const bound = callsAtOnce === undefined ? {} : { atOnce: callsAtOnce }
    return webhook({ ...settings, url: reveal(settings.url), secret: settings.secret }, transport, bound)
  },
  langfuse(settings, { transport }) {
    const { host, public_key: publicKey, secret_key: secretKey, project_id: projectId } = settings ?? {}
    return host && publicKey && secretKey ? langfuse({ host, publicKey, secretKey, projectId }, transport) : undefined
  },
  otel: (settings = otelDefaults(), { transport }) => otlp('otel', settings, transport),
  opentelemetry: (settings = otelDefaults(), { transport }) => otlp('opentelemetry', settings, transport),
  s3: configuredS3,
}

/** The sinks that `success_callback` switches on. */
export function configuredSinks(
  { gateway_settings: settings }: Config,
  means: SinkMeans & {
    /** Where events do not wait in this process. */
    readonly sinkLane?: ((sink: Sink, counts: Tally) => SinkLane) | undefined
    readonly log: Log
    readonly report: (event: SinkMoved) => void
  },
): Sinks {
  const { sinkLane: laneOf = bufferedLane, log, report } = means
  const names = [...new Set(settings.success_callback)]
  const sinks = names.flatMap((name) => made(name, settings.callback_settings, means) ?? [])
  return sinksOf(sinks, { laneOf, log, report })
}

const made = <Name extends CallbackName>(name: Name, settings: CallbackSettings, means: SinkMeans) =>
  SINKS[name](settings[name], means)
