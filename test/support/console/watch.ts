import type { Page, Request } from 'playwright-core'

/** A request to the gateway's API and its answer. */
export interface Exchange {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** 0: there was no answer. */
  readonly status: number
}

export interface Watch {
  readonly traffic: readonly Exchange[]
  /** What no page of the console may do, in words. */
  problems(): readonly string[]
  /** Resolves when the page asks nothing any more, and has drawn what it was answered. */
  settled(): Promise<void>
}

const QUIET_MS = 40
const MOST_MS = 10_000
const DRAWN = 'new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 0)))'

/** Every refusal is written to the browser's console as well; which ones fail a test, their status says. */
const TOLD_BY_STATUS = /^Failed to load resource: the server responded with a status of/

const TELL_BREACHES = `addEventListener('securitypolicyviolation', (breach) =>
  console.error('policy:', breach.effectiveDirective, breach.blockedURI, breach.sourceFile, breach.lineNumber))`

/** Notes what a page does from its first request on. */
export async function watch(page: Page, origin: string, forgives: readonly RegExp[]): Promise<Watch> {
  const problems: string[] = []
  const traffic: Exchange[] = []
  const note = (problem: string) => {
    if (!forgives.some((one) => one.test(problem))) problems.push(problem)
  }
  const underWay = new Set<Request>()
  let asked = 0
  const ended = (request: Request) => underWay.delete(request)
  page.on('requestfinished', ended)
  page.on('requestfailed', ended)
  page.on('console', (message) => {
    if (message.type() === 'error' && !TOLD_BY_STATUS.test(message.text())) note(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => note(`uncaught: ${error.stack ?? error.message}`))
  page.on('request', (request) => {
    underWay.add(request)
    asked += 1
    const url = new URL(request.url())
    if (/^https?:$/.test(url.protocol) && url.origin !== origin) note(`foreign request: ${url}`)
  })
  page.on('response', (response) => {
    const { origin: from, pathname, search } = new URL(response.url())
    if (from !== origin || !/^\/(?:ui|auth|v1|health)\b/.test(pathname)) return
    const exchange = { method: response.request().method(), path: pathname + search, status: response.status() }
    traffic.push(exchange)
    if (exchange.status === 403 || exchange.status >= 500) {
      note(`answered ${exchange.status}: ${exchange.method} ${exchange.path}`)
    }
  })
  await page.addInitScript(TELL_BREACHES)
  return {
    traffic,
    problems: () => problems,
    async settled() {
      const end = performance.now() + MOST_MS
      for (let seen = -1; seen !== asked || underWay.size > 0; ) {
        if (performance.now() > end) {
          throw new Error(`still asks: ${[...underWay].map((request) => request.url()).join(', ')}`)
        }
        seen = asked
        await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
        // However slow the machine is: what was answered has been drawn, and what follows from it has been asked.
        if (underWay.size === 0) await page.evaluate(DRAWN)
      }
    },
  }
}
