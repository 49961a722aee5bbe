import { describe, expect, it } from 'vitest'
import { nothingIsWritten } from '../../support/console/openings.ts'
import { PAGES } from '../../support/console/page-list.ts'
import { type ConsolePage, type Role, withConsole } from '../../support/console/with-console.ts'

const gateway = withConsole()

const EVERYBODY = ['overview', 'health', 'models', 'playground', 'account']
const OF_KEYS = ['usage', 'requests', 'batches', 'keys', 'teams']
const OWN_KEYS = ['my-keys']
const CONFIGURATION = ['deployments', 'groups', 'prompts', 'mcp', 'settings']
const ALL = PAGES.map(({ id }) => id)
const WITHOUT_CONFIGURATION = ALL.filter((id) => !CONFIGURATION.includes(id))

/** Which pages each role is led to. */
const SHOWN: Readonly<Record<Role | 'master', readonly string[]>> = {
  master: ALL,
  platform_admin: ALL,
  org_owner: WITHOUT_CONFIGURATION,
  org_admin: WITHOUT_CONFIGURATION,
  org_billing: [...EVERYBODY, ...OF_KEYS, 'organizations'],
  org_auditor: [...EVERYBODY, ...OF_KEYS, 'organizations', 'people', 'audit'],
  org_member: [...EVERYBODY, 'teams', 'organizations'],
  team_admin: [...EVERYBODY, ...OF_KEYS, ...OWN_KEYS, 'people'],
  team_developer: [...EVERYBODY, ...OF_KEYS, ...OWN_KEYS, 'people'],
  team_viewer: [...EVERYBODY, 'teams'],
  nobody_yet: EVERYBODY,
}

/** Those whose pages are opened with everything on them. Each may read some of what a page shows and not the rest; the
 *  others may read everything, as in all other tests, or what one of these may. */
const TELLING: ReadonlySet<string> = new Set<Role>([
  'org_admin',
  'org_auditor',
  'org_billing',
  'team_developer',
  'team_viewer',
])

/** What a page of everybody's has on it differs by what one may read: every answer is looked at by `withConsole`. */
describe.each(Object.keys(SHOWN) as (Role | 'master')[])('whoever is %s', (as) => {
  const shown = PAGES.filter(({ id }) => SHOWN[as].includes(id))
  const others = PAGES.filter((one) => !shown.includes(one))

  it('is led to the pages of that role, is told of every other that it is not theirs, and is refused nothing', async () => {
    const page = await gateway.open('account', { as })
    await nothingIsWritten(page)
    const links = page.getByRole('navigation', { name: 'Pages' }).first().getByRole('link')
    expect(await links.allTextContents()).toEqual(shown.map(({ label }) => label))
    for (const { path } of others) {
      const before = page.traffic.length
      await page.go(`${path}?open=search`)
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Not for your roles')
      expect(page.traffic.slice(before)).toEqual([])
    }
    if (!TELLING.has(as)) return
    for (const { path, label } of shown) {
      await page.go(path)
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(label)
      await openTabs(page, path)
    }
  })
})

/** Opens the panel of the first row, and each tab of the panel and of the page. */
async function openTabs(page: ConsolePage, path: string): Promise<void> {
  const at = new URL(page.url()).pathname
  const row = page.locator('main tbody .row-link').first()
  if ((await row.count()) > 0) await row.click()
  await page.settled()
  if (new URL(page.url()).pathname !== at) await page.go(path)
  for (const part of ['.panel', 'main']) {
    const tabs = page.locator(`${part} [role=tab]`)
    for (let tab = 0; tab < (await tabs.count()); tab++) {
      await tabs.nth(tab).click()
      await page.settled()
    }
  }
}
