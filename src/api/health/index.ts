import type { Route } from '../route.ts'
import { deploymentsHealth } from './deployments.ts'
import { fallbackEvents } from './fallback-events.ts'
import { health, healthLiveliness, healthReadiness } from './health.ts'
import { metricsPage } from './metrics.ts'

export const healthRoutes: readonly Route[] = [
  health,
  healthLiveliness,
  healthReadiness,
  deploymentsHealth,
  fallbackEvents,
  metricsPage,
]
