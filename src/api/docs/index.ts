import { configJsonSchema } from '../../routing/configuration.ts'
import { defineRoute, type Route } from '../route.ts'
import { builtOnce } from './built-once.ts'
import { openapi } from './openapi.ts'
import { PAGE_HEADERS, page } from './page.ts'

/** The routes that document the given routes and themselves. */
export function documentation(routes: readonly Route[]): readonly Route[] {
  const openapiDocument = builtOnce('application/json', () => JSON.stringify(openapi([...routes, ...own])))
  const configSchema = builtOnce('application/schema+json', () => JSON.stringify(configJsonSchema()))
  const docsPage = builtOnce('text/html; charset=utf-8', () => page, PAGE_HEADERS)
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
      ({ header }) => openapiDocument(header('if-none-match')),
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
      ({ header }) => configSchema(header('if-none-match')),
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
      ({ header }) => docsPage(header('if-none-match')),
    ),
  ]
  return own
}
