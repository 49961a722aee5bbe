import type { Mistake } from '../../../config/config-error.ts'
import type { Config } from '../../../config/schema.ts'
import { isPrivateHost } from '../../../lib/addresses/private-address.ts'
import { isSecret } from '../../../lib/secret.ts'
import { missingSmtp } from '../../../mail/senders.ts'
import { providers } from '../../../providers/index.ts'
import { deploymentsOf } from '../../../routing/registry.ts'
import { missingS3Key } from '../../../telemetry/sinks/configured-s3.ts'

/** What a Worker does not start with, though Node does. `bindsLogs`: it has a bucket for the sink s3. */
export function mistakesOnWorkers(config: Config, bindsLogs: boolean): Mistake[] {
  return [...missingSmtp(config), ...(bindsLogs ? [] : missingS3Key(config))]
}

/** What of a configuration is at an address of this machine or of a private network, with that. */
export function outOfReach(config: Config): string[] {
  const { mcp_servers: servers, callback_settings: sinks } = config.gateway_settings
  const addresses: (readonly [name: string, address: unknown])[] = [
    ...deploymentsOf(config, providers).map(({ id, connection }) => [id, connection.origin] as const),
    ...servers.map(({ server_key: key, base_url }) => [key, base_url] as const),
    ...Object.entries(sinks).flatMap(([name, settings]) =>
      Object.values(settings ?? {}).map((value) => [name, value] as const),
    ),
  ]
  return addresses.filter(([, address]) => isNear(address)).map(([name, address]) => `${name} (${address})`)
}

function isNear(address: unknown): boolean {
  const url = typeof address === 'string' || isSecret(address) ? URL.parse(String(address)) : null
  return url !== null && url.hostname !== '' && isPrivateHost(url.hostname)
}
