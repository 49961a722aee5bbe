import type { Route } from '../route.ts'
import { health, healthLiveliness, healthReadiness } from './health.ts'
import { metricsPage } from './metrics.ts'

export const healthRoutes: readonly Route[] = [health, healthLiveliness, healthReadiness, metricsPage]
