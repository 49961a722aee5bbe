import { GatewayError } from '../../lib/errors.ts'
import type { Scope } from '../scope.ts'

/** Refuses requests of foreign pages. A page may have pointed its own name at this gateway (DNS rebinding), so that the
 *  Host header counts only if it names the loopback interface or came over TLS. */
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
