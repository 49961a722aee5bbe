import { configJsonSchema } from '../../config/json-schema.ts'
import { json, text } from '../respond.ts'
import { defineRoute, type Route } from '../route.ts'
import { openapi } from './openapi.ts'
import { page } from './page.ts'

/** The documentation of the given routes, and of itself. */
export function documentation(routes: readonly Route[]): readonly Route[] {
  const own: Route[] = [
    defineRoute(
      {
        method: 'get',
        path: '/openapi.json',
        summary: 'This API as an OpenAPI 3.1 document.',
        tag: 'Documentation',
        auth: 'public',
        responses: { 200: { description: 'The document.', contentType: 'application/json' } },
      },
      () => json(openapi([...routes, ...own])),
    ),
    defineRoute(
      {
        method: 'get',
        path: '/gateway.schema.json',
        summary: 'The JSON Schema of the configuration file.',
        tag: 'Documentation',
        auth: 'public',
        responses: { 200: { description: 'The schema.', contentType: 'application/schema+json' } },
      },
      () => json(configJsonSchema(), 200, { 'content-type': 'application/schema+json' }),
    ),
    defineRoute(
      {
        method: 'get',
        path: '/docs',
        summary: 'This API as a page.',
        tag: 'Documentation',
        auth: 'public',
        responses: { 200: { description: 'The page.', contentType: 'text/html' } },
      },
      () => text(page, 'text/html; charset=utf-8'),
    ),
  ]
  return own
}
