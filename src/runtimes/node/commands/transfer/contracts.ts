import type * as z from 'zod'
import { routes } from '../../../../app.ts'

/** The schema of the body of a route of the admin API. */
export function bodyOf(method: 'post' | 'put', path: string): z.ZodType {
  const route = routes.find(({ contract }) => contract.method === method && contract.path === path)
  if (!route?.contract.json) throw new TypeError(`the admin API has no ${method} ${path} with a body`)
  return route.contract.json()
}
