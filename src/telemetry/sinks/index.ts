import { ConfigError } from '../../config/config-error.ts'
import type { Config } from '../../config/schema.ts'
import { type CallbackName, otelDefaults } from '../../config/sections/callback-settings.ts'
import { hasZstd } from '../../lib/bytes/zstd.ts'
import type { Log } from '../../lib/log.ts'
import type { Transport } from '../../transport/transport.ts'
import type { SinkMoved } from '../events.ts'
import { bufferedLane } from './buffered-lane.ts'
import { langfuse } from './langfuse.ts'
import { otlp } from './otlp/otlp.ts'
import { s3 } from './s3.ts'
import { type ObjectWriter, signedObjects } from './s3-objects.ts'
import type { Sink, SinkLane } from './sink.ts'
import { type Sinks, sinksOf } from './sinks.ts'
import type { Tally } from './tally.ts'
import { webhook } from './webhook.ts'

type Settings = Config['gateway_settings']['callback_settings']

interface SinkMeans {
  readonly transport: Transport
  /** A bucket that the runtime itself is bound to. */
  readonly boundBucket?: ObjectWriter | undefined
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
    const { host, public_key: publicKey, secret_key: secretKey, project_id: projectId } = settings ?? {}
    return host && publicKey && secretKey ? langfuse({ host, publicKey, secretKey, projectId }, transport) : undefined
  },
  otel: ({ otel = otelDefaults() }, { transport }) => otlp('otel', otel, transport),
  opentelemetry: ({ opentelemetry = otelDefaults() }, { transport }) => otlp('opentelemetry', opentelemetry, transport),
  s3({ s3: settings }, { transport, boundBucket }) {
    if (!settings?.bucket) return undefined
    const { bucket, region, prefix, compression, access_key_id: accessKeyId, secret_access_key: secret } = settings
    const { session_token: sessionToken } = settings
    if (compression === 'zstd' && !hasZstd()) {
      const path = 'gateway_settings.callback_settings.s3.compression'
      throw new ConfigError([{ path, message: 'zstd needs Node 22.15 or a later one; use gzip, or update Node' }])
    }
    const endpoint = settings.endpoint ?? `https://s3.${region}.amazonaws.com`
    const objects =
      accessKeyId && secret
        ? signedObjects({ endpoint, bucket, region, accessKeyId, secretAccessKey: secret, sessionToken }, transport)
        : boundBucket
    if (!objects) throw new TypeError('callback_settings.s3 needs access_key_id and secret_access_key.')
    return s3({ bucket, prefix, compression }, objects)
  },
}

/** The sinks that `success_callback` switches on. */
export function configuredSinks(
  { gateway_settings: settings }: Config,
  {
    transport,
    boundBucket,
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
  const sinks = names.flatMap((name) => SINKS[name](settings.callback_settings, { transport, boundBucket }) ?? [])
  return sinksOf(sinks, { ...means, laneOf })
}
