import type { Config } from '../../../config/schema.ts'

/** Throws if several processes would not share their database and their limits. */
export function requireSharedStores(
  { general_settings: { database_url, redis_url } }: Config,
  processes: number,
): void {
  const missing = [
    ...(database_url ? [] : ['the embedded database belongs to one process: set DATABASE_URL']),
    ...(redis_url ? [] : ['limits would count in each process for itself: set REDIS_URL']),
  ]
  if (missing.length === 0) return
  throw new Error(
    `GATEWAY_PROCESSES asks for ${processes} processes, but ${missing.join(', and ')}. Or leave GATEWAY_PROCESSES out.`,
  )
}
