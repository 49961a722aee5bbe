import type { ApiServices } from '../scope.ts'

/** A dependency that has not answered by then counts as away. */
const PROBE_MS = 800

export interface Readiness {
  readonly status: 'ok' | 'unavailable'
  readonly checks: { readonly redis: boolean; readonly database: boolean }
}

/** Asks the dependencies, both at once, within a second. */
export async function readiness(services: ApiServices): Promise<Readiness> {
  const [redis, database] = await Promise.all([answers(services.store), answers(services.sql)])
  const ready = redis && database && !services.draining()
  return { status: ready ? 'ok' : 'unavailable', checks: { redis, database } }
}

async function answers(dependency: { ping(timeoutMs: number): Promise<void> }): Promise<boolean> {
  try {
    await dependency.ping(PROBE_MS)
    return true
  } catch {
    return false
  }
}
