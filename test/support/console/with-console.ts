import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeAll, expect } from 'vitest'
import { preparedDatabaseIn } from '../embedded-database.node.ts'
import { type BrowserAnswer, browser, type Person, signedIn } from '../people.ts'
import { axeViolations } from './axe.ts'
import { chromiumOfTests } from './chromium.node.ts'
import { DEMO_SALT_KEY, type Demo, type DemoOptions, startDemo } from './demo.node.ts'
import { DEMO_KEY } from './demo-data.ts'
import { type Exchange, type Watch, watch } from './watch.ts'

/** Whoever opens the console, by the role that they hold in what the demo has: organization `products` with the teams
 *  `search` and `support`, and team `eval` of organization `research`. */
const ROLES = {
  platform_admin: { role: 'platform_admin' },
  org_owner: { organizations: { products: 'org_owner' } },
  org_admin: { organizations: { products: 'org_admin' } },
  org_billing: { organizations: { products: 'org_billing' } },
  org_auditor: { organizations: { products: 'org_auditor' } },
  org_member: { organizations: { products: 'org_member' } },
  team_admin: { teams: { search: 'team_admin' } },
  team_developer: { teams: { eval: 'team_developer' } },
  team_viewer: { teams: { search: 'team_viewer' } },
  nobody_yet: {},
} as const satisfies Readonly<Record<string, Person>>

export type Role = keyof typeof ROLES

export interface OpenOptions {
  /** Who is signed in: `master` (the session of the master key) unless told otherwise; `nobody`: the way in is shown. */
  readonly as?: Role | Person | 'master' | 'nobody'
  readonly theme?: 'light' | 'dark'
  /** Below 700 it is a phone with a touch screen. */
  readonly width?: number
  readonly height?: number
  readonly timeZone?: string
  readonly locale?: string
  /** What the test breaks on purpose: problems that are like one of these do not fail it. */
  readonly forgives?: readonly RegExp[]
}

export interface ConsolePage extends Page {
  /** Every request to the gateway's API since the page was made, with its status. */
  readonly traffic: readonly Exchange[]
  /** Waits until it asks nothing any more. */
  settled(): Promise<void>
  /** Goes to an address under /console as a link does: without loading the console anew. */
  go(path: string): Promise<void>
  /** The same, without waiting for what the page reads. */
  show(path: string): Promise<void>
}

export interface TestedConsole {
  readonly url: string
  readonly demo: Demo
  /** Asks the gateway with the master key: `await gateway.ask('GET', '/ui/api/teams')`. */
  ask(method: string, path: string, body?: unknown): Promise<BrowserAnswer>
  /** Opens an address under /console in a browser of its own, and waits until it has read what it shows. */
  open(path: string, options?: OpenOptions): Promise<ConsolePage>
}

/** The console of a gateway with the demo's data, in Chromium. The browser and the gateway are shared by the files that run
 *  in this process, so a test makes what it changes, under a name of its own.
 *
 *  A test fails when a page of it reports a breach of its policy, writes an error to the console, leaves a rejection to
 *  nobody, asks another origin, or is answered 403 or 5xx. */
export function withConsole(options?: DemoOptions): TestedConsole {
  let demo: Demo | undefined
  let opened: { readonly context: BrowserContext; readonly watched: Watch }[] = []
  const running = () => {
    if (!demo) throw new Error('the gateway is made before the first test')
    return demo
  }
  beforeAll(async () => {
    const [gateway] = await Promise.all([options ? ownDemo(options) : sharedDemo(), chromiumOfTests()])
    demo = gateway
    return options && (() => gateway.close())
  }, 120_000)
  afterEach(async () => {
    const ended = opened
    opened = []
    await Promise.all(ended.map(({ context }) => context.close()))
    expect(ended.flatMap(({ watched }) => watched.problems())).toEqual([])
  })
  return {
    get url() {
      return running().url
    },
    get demo() {
      return running()
    },
    ask: (method, path, body) =>
      browser(running().url).ask(method, path, body, { authorization: `Bearer ${DEMO_KEY}` }),
    async open(
      path,
      { as = 'master', theme = 'light', width = 1440, height = 900, timeZone, locale, forgives = [] } = {},
    ) {
      const { url } = running()
      const narrow = width < 700
      const context = await (await chromiumOfTests()).newContext({
        baseURL: url,
        viewport: { width, height },
        colorScheme: theme,
        // Words fade in over 120 ms; whoever looks in between sees other colours.
        reducedMotion: 'reduce',
        hasTouch: narrow,
        isMobile: narrow,
        ...(timeZone && { timezoneId: timeZone }),
        ...(locale && { locale }),
      })
      context.setDefaultTimeout(10_000)
      const token = await tokenOf(running(), as)
      if (token) await context.addCookies([{ name: 'gateway_session', value: token, url }])
      const page = await context.newPage()
      const watched = await watch(page, url, forgives)
      opened.push({ context, watched })
      await page.goto(addressOf(path))
      await page.locator('h1').first().waitFor()
      await watched.settled()
      const show = async (other: string) => {
        const to = JSON.stringify(addressOf(other))
        await page.evaluate(`history.pushState(null, '', ${to}); dispatchEvent(new PopStateEvent('popstate'))`)
      }
      const { traffic, settled } = watched
      return Object.assign(page, { traffic, settled, show, go: (other: string) => show(other).then(settled) })
    },
  }
}

const addressOf = (path: string) => `/console${path && `/${path}`}`

let shared: Promise<Demo> | undefined
const sharedDemo = () => {
  shared ??= ownDemo({})
  return shared
}
const ownDemo = (options: DemoOptions) => startDemo({ layDatabase: preparedDatabaseIn, ...options })

async function tokenOf({ url, sql }: Demo, as: NonNullable<OpenOptions['as']>): Promise<string> {
  if (as === 'nobody') return ''
  if (as !== 'master') {
    return (await signedIn({ url, sql, saltKey: DEMO_SALT_KEY }, typeof as === 'string' ? ROLES[as] : as)).token
  }
  const master = browser(url)
  expect((await master.ask('POST', '/auth/internal/login', { master_key: DEMO_KEY })).status).toBe(200)
  return master.token
}

/** What of the page, or of the last part of it that is like a selector, a reader of some kind cannot use in either theme. */
export async function violations(page: Page, within?: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    const of = colorScheme === 'light' ? 'all' : 'colours'
    found.push(...(await axeViolations(page, of, within)).map((one) => `${colorScheme}: ${one}`))
  }
  return found
}

/** Fails where the page, in either theme, has something that a reader of some kind cannot use, or is wider than its
 *  window. It looks at what is open: a dialog, a panel, a list of choices. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await violations(page)).toEqual([])
  expect(await overflow(page)).toBe(0)
}

/** By how many pixels the page is wider than its window. */
export async function overflow(page: Page): Promise<number> {
  return Number(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'))
}
