import type { Scope } from '../scope.ts'

/** What links to the gateway begin with: what is configured, else the address that this request came to. */
export function baseUrl({ services, site }: Pick<Scope, 'services' | 'site'>): string {
  const { email_base_url: configured } = services.config.general_settings
  if (configured !== undefined) return configured.replace(/\/+$/, '')
  const { host, isPlainLoopback } = site()
  return `${isPlainLoopback ? 'http' : 'https'}://${host}`
}
