import { ConfigError, type Mistake } from '../../config/config-error.ts'
import type { Config } from '../../config/schema.ts'
import type { CallbackSettings } from '../../config/sections/callback-settings.ts'
import { hasZstd } from '../../lib/bytes/zstd.ts'
import type { Transport } from '../../transport/transport.ts'
import { s3 } from './s3.ts'
import { type ObjectWriter, signedObjects } from './s3-objects.ts'
import type { Sink } from './sink.ts'

const NO_KEY = {
  path: 'gateway_settings.callback_settings.s3',
  message: 'has no access_key_id and secret_access_key; only Workers do without, if a bucket is bound as LOGS',
}

/** The sink of `callback_settings.s3`: it writes by signed requests if there is an access key, else to the bucket that the
 *  runtime itself is bound to. */
export function configuredS3(
  settings: CallbackSettings['s3'],
  { transport, boundBucket }: { readonly transport: Transport; readonly boundBucket?: ObjectWriter | undefined },
): Sink | undefined {
  if (!settings?.bucket) return undefined
  const { bucket, region, prefix, compression, access_key_id: accessKeyId, secret_access_key: secret } = settings
  const { session_token: sessionToken, endpoint = `https://s3.${region}.amazonaws.com` } = settings
  if (compression === 'zstd' && !hasZstd()) {
    const path = 'gateway_settings.callback_settings.s3.compression'
    throw new ConfigError([{ path, message: 'zstd needs Node 22.15 or a later one; use gzip, or update Node' }])
  }
  const objects =
    accessKeyId && secret
      ? signedObjects({ endpoint, bucket, region, accessKeyId, secretAccessKey: secret, sessionToken }, transport)
      : boundBucket
  if (!objects) throw new ConfigError([NO_KEY])
  return s3({ bucket, prefix, compression }, objects)
}

/** What keeps the sink from starting where the runtime itself is bound to no bucket. */
export function missingS3Key({ gateway_settings: settings }: Pick<Config, 'gateway_settings'>): Mistake[] {
  const { access_key_id: id, secret_access_key: secret } = settings.callback_settings.s3 ?? {}
  return settings.success_callback.includes('s3') && !(id && secret) ? [NO_KEY] : []
}
