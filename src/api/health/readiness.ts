import { paced } from '../../lib/paced.ts'
import type { ApiServices } from '../scope.ts'

/** A dependency that has not answered by then counts as away. */
const PROBE_MS = 800

export interface Readiness {
  readonly status: 'ok' | 'unavailable'
  readonly checks: { readonly redis: boolean; readonly database: boolean }
}

/** Says whether the dependencies answer, and the process is not stopping. */
export async function readiness(services: ApiServices): Promise<Readiness> {
  const checks = await checked(services)
  const ready = checks.redis && checks.database && !services.draining()
  return { status: ready ? 'ok' : 'unavailable', checks }
}

/** Asks both at once, within a second. */
const checked = paced(async (services: ApiServices): Promise<Readiness['checks']> => {
  const [redis, database] = await Promise.all([answers(services.store), answers(services.sql)])
  return { redis, database }
})

async function answers(dependency: { ping(timeoutMs: number): Promise<void> }): Promise<boolean> {
  try {
    await dependency.ping(PROBE_MS)
    return true
  } catch {
    return false
  }
}
