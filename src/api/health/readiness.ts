import { paced } from '../../lib/paced.ts'
import type { ApiServices } from '../scope.ts'

/** A dependency that does not answer within this time counts as away. */
const PING_MS = 800

export interface Readiness {
  readonly status: 'ok' | 'unavailable'
  readonly checks: { readonly redis: boolean; readonly database: boolean }
}

/** Ready while the dependencies answer and the process is not stopping. */
export async function readiness(services: ApiServices): Promise<Readiness> {
  const checks = await checked(services)
  const ready = checks.redis && checks.database && !services.draining()
  return { status: ready ? 'ok' : 'unavailable', checks }
}

/** Pings both in parallel. */
const checked = paced(async (services: ApiServices): Promise<Readiness['checks']> => {
  const [redis, database] = await Promise.all([answers(services.store), answers(services.sql)])
  return { redis, database }
})

async function answers(dependency: { ping(timeoutMs: number): Promise<void> }): Promise<boolean> {
  try {
    await dependency.ping(PING_MS)
    return true
  } catch {
    return false
  }
}
