import { GatewayError } from '../../lib/errors.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { builtOnce } from '../docs/built-once.ts'
import { prefersPage } from '../error-page.ts'
import { defineRoute, type Route } from '../route.ts'
import type { Scope } from '../scope.ts'

/** What the console may do in a browser: run and show its own files, speak to the gateway alone, and never turn a text
 *  into markup or script. */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    'media-src blob:',
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** Sent to browsers that came by https: they must not fall back to http. */
const STRICT_TRANSPORT = { 'strict-transport-security': 'max-age=31536000' }

const NOT_BUILT = 'The console is not built. In the folder of the gateway, run: npm install && npm run build:console'

/** The console is one page, which finds by its address what to show. It is answered here and not as a file, so that
 *  every other path stays with the gateway. */
export function consoleRoutes(): readonly Route[] {
  let page: { readonly text: string; readonly answer: ReturnType<typeof builtOnce> } | undefined
  const shell = ({ services: { consoleShell }, header, site }: Scope): Answer => {
    const text = consoleShell?.()
    if (text === undefined) throw new GatewayError('console_not_built', NOT_BUILT)
    if (page?.text !== text) page = { text, answer: builtOnce('text/html; charset=utf-8', () => text, HEADERS) }
    const answer = page.answer(header('if-none-match'))
    return site().isHttps ? { ...answer, headers: { ...answer.headers, ...STRICT_TRANSPORT } } : answer
  }
  const at = (path: string, open: { readonly open?: true }) =>
    defineRoute(
      {
        method: 'get',
        path,
        ...open,
        summary: 'The console.',
        tag: 'Documentation',
        auth: 'public',
        errorPages: true,
        responses: { 200: { description: 'The page.', contentType: 'text/html' } },
      },
      shell,
    )
  return [front, slashed, at('/console', {}), at('/console/{path}', { open: true })]
}

const toConsole = (): Answer => ({ status: 302, headers: { location: '/console' }, body: new Uint8Array() })

const front = defineRoute(
  {
    method: 'get',
    path: '/',
    summary: 'Leads a browser to the console.',
    tag: 'Documentation',
    auth: 'public',
    responses: { 302: { description: 'To the console.' } },
  },
  ({ header }) => {
    if (!prefersPage(header('accept'))) {
      throw new GatewayError('not_found', 'There is nothing at this path. The paths are listed at /docs.', {
        code: 'unknown_path',
      })
    }
    return toConsole()
  },
)

const slashed = defineRoute(
  {
    method: 'get',
    path: '/console/',
    summary: 'Leads to the console.',
    tag: 'Documentation',
    auth: 'public',
    responses: { 302: { description: 'To the console.' } },
  },
  () => toConsole(),
)
