import { HonoBase as Hono } from 'hono/hono-base'
import { dialectPath, readdressing } from './api/addresses.ts'
import { authRoutes } from './api/auth/index.ts'
import { consoleRoutes } from './api/console/shell.ts'
import { deploymentRoutes } from './api/deployment-address.ts'
import { documentation } from './api/docs/index.ts'
import type { Env } from './api/exchange.ts'
import { healthRoutes } from './api/health/index.ts'
import { mcp } from './api/mcp/mcp.ts'
import { CROSS_ORIGIN_PATHS, crossOrigin } from './api/middleware/cross-origin.ts'
import { mount, refuse } from './api/mount.ts'
import { contractAt, noRoute } from './api/no-route.ts'
import type { Route } from './api/route.ts'
import { KeepingRouter } from './api/router.ts'
import type { ApiServices } from './api/scope.ts'
import { ui } from './api/ui/index.ts'
import { v1 } from './api/v1/index.ts'

/** Every route of the gateway, in the order of its documentation. */
export const routes: readonly Route[] = [...v1, mcp, ...authRoutes, ...healthRoutes, ...ui]

/** The gateway as a `fetch` handler. It knows no runtime: everything that differs is in the services and the client. */
export function createApp(services: ApiServices): Hono<Env> {
  const app = new Hono<Env>({ getPath: readdressing(routes), router: new KeepingRouter() })
  const { cors_origins: origins } = services.config.general_settings
  if (origins.length > 0) for (const path of CROSS_ORIGIN_PATHS) app.use(path, crossOrigin(services, origins))
  const all = [...routes, ...deploymentRoutes(routes), ...documentation(routes), ...consoleRoutes()]
  for (const route of all) mount(app, services, route)
  app.notFound((c) =>
    refuse(
      c,
      services,
      noRoute(c.req.method, c.req.path, all, c.req.header('upgrade')),
      contractAt(c.req.path, all) ?? contractAt(dialectPath(c.req.url), all),
    ),
  )
  app.onError((error, c) => refuse(c, services, error))
  return app
}
