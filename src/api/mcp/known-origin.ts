import { GatewayError } from '../../lib/errors.ts'
import type { Scope } from '../scope.ts'

/** Refuses what a foreign page sends. Its name may have been made to lead to this gateway, so that the Host it sends
 *  proves nothing: that has to be a name of the loopback interface, or one that TLS has proved. */
export function requireKnownOrigin({ header, services, site }: Pick<Scope, 'header' | 'services' | 'site'>): void {
  const origin = header('origin')
  if (origin === undefined) return
  const { cors_origins: origins, email_base_url: baseUrl } = services.config.general_settings
  if (origins.includes('*') || origins.includes(origin)) return
  const given = URL.parse(origin)
  if (given && baseUrl !== undefined && given.origin === new URL(baseUrl).origin) return
  const { host, isPlainLoopback, isEncrypted } = site()
  if (given && (isPlainLoopback || isEncrypted) && given.host === host.toLowerCase()) return
  const message =
    'Pages of this origin may not use the gateway. The setting general_settings.cors_origins lists those that may.'
  throw new GatewayError('permission', message, { code: 'cross_origin', param: 'origin' })
}
