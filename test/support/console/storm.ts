import type { ConsolePage } from './with-console.ts'

const SESSION = /^\/auth\/(?:me|config)$/

const json = (status: number, code: string, message: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  json: { error: { message, type: 'test_error', param: null, code } },
})

/** What the gateway, or something in front of it, may answer in place of what was asked for. */
export const STORMS = {
  'a failure of the gateway': json(500, 'internal_error', 'Something broke.'),
  'a database that is away': json(503, 'database_unavailable', 'The database cannot be reached.'),
  'too many requests': json(429, 'rate_limit_exceeded', 'There were too many requests.', { 'retry-after': '7' }),
  'a page of a proxy': { status: 200, contentType: 'text/html', body: '<h1>Sign in to the guest network</h1>' },
  'an error page of a proxy': { status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' },
} as const

export type Storm = keyof typeof STORMS | 'silence'

const API = /\/(?:ui|auth|v1|health)(?:\/|$|\?)/

/** Lets everything that a page asks meet it, but for who is signed in. */
export async function storm(page: ConsolePage, what: Storm): Promise<void> {
  await page.route(API, async (route) => {
    if (SESSION.test(new URL(route.request().url()).pathname)) await route.fallback()
    // A request that is never answered ends with its page.
    else if (what !== 'silence') await route.fulfill(STORMS[what])
  })
}

export const calm = (page: ConsolePage): Promise<void> => page.unroute(API)
