import { describe, expect, it } from 'vitest'
import { DEMO_SALT_KEY } from '../../support/console/demo.node.ts'
import { DEMO_KEY } from '../../support/console/demo-data.ts'
import { PAGES } from '../../support/console/page-list.ts'
import { type ConsolePage, withConsole } from '../../support/console/with-console.ts'
import { signedIn } from '../../support/people.ts'

const gateway = withConsole()

/** Opens the form of a new team, and types into it. */
async function typing(page: ConsolePage, name: string) {
  await page.getByRole('button', { name: 'New team' }).click()
  const form = page.getByRole('dialog', { name: 'New team' })
  await form.getByLabel('Name', { exact: true }).fill(name)
  await form.getByRole('spinbutton', { name: 'Requests per minute' }).fill('77')
  return form
}
const teamsCalled = async (name: string) =>
  (await gateway.ask('GET', `/ui/api/teams?search=${encodeURIComponent(name)}`)).body.data

describe('what somebody writes', () => {
  it('is written once, when the session ended in the middle and is opened again over the page', async () => {
    const name = 'Written after a session'
    const page = await gateway.open('teams')
    const form = await typing(page, name)
    await page.context().clearCookies()
    await form.getByRole('button', { name: 'Create' }).click()
    const again = page.getByRole('dialog', { name: 'Your session has ended' })
    await again.waitFor()
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe(name)
    await again.getByRole('button', { name: 'Use the master key' }).click()
    await again.getByLabel('Master key').fill('sk-not-the-master-key')
    await page.keyboard.press('Enter')
    await again.getByRole('alert').waitFor()
    await again.getByLabel('Master key').fill(DEMO_KEY)
    await page.keyboard.press('Enter')
    await page.getByText(`${name} is created.`).waitFor()
    expect(await teamsCalled(name)).toMatchObject([{ team_name: name, rpm_limit: 77 }])
  })

  it('stays when a look back at the page finds that the session has ended', async () => {
    const name = 'Typed before the end of a session'
    const page = await gateway.open('teams')
    await page.clock.install()
    const form = await typing(page, name)
    await page.context().clearCookies()
    await page.clock.fastForward(6000)
    await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
    const again = page.getByRole('dialog', { name: 'Your session has ended' })
    await again.getByRole('button', { name: 'Use the master key' }).click()
    await again.getByLabel('Master key').fill(DEMO_KEY)
    await page.keyboard.press('Enter')
    await again.waitFor({ state: 'detached' })
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe(name)
  })

  it('is not written in the name of somebody else who has signed in in another tab, unless they ask for it', async () => {
    const page = await gateway.open('teams')
    const form = await typing(page, 'Typed before another person')
    const { token, email } = await signedIn(
      { url: gateway.url, sql: gateway.demo.sql, saltKey: DEMO_SALT_KEY },
      { role: 'platform_admin' },
    )
    await page.context().addCookies([{ name: 'gateway_session', value: token, url: gateway.url }])
    await form.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('button', { name: `Go on as ${email}` }).click()
    await form.getByText('Somebody else has signed in').waitFor()
    await form.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Typed before another person is created.').waitFor()
    const latest = async () => (await gateway.ask('GET', '/ui/api/audit/events?action=team.create&limit=1')).body.data
    await expect.poll(latest).toMatchObject([{ actor_name: email, status: 201 }])
  })

  it('is said to be written although the list of it cannot be read again', async () => {
    const name = 'Written beside a slow list'
    const page = await gateway.open('teams')
    const form = await typing(page, name)
    // Never answered.
    await page.route('**/ui/api/teams?*', () => undefined)
    await form.getByRole('button', { name: 'Create' }).click()
    await page.getByText(`${name} is created.`).waitFor()
  })

  it('stays in the form when somebody else was faster, when there were too many, and when the database is away', async () => {
    const page = await gateway.open('teams', { forgives: [/answered 503/] })
    const name = 'Never written'
    const form = await typing(page, name)
    const create = form.getByRole('button', { name: 'Create' })
    const refused = async (status: number, message: string) => {
      const error = { message, type: 'test_error', param: null, code: 'test' }
      await page.route('**/ui/api/teams', (route) =>
        route.request().method() === 'POST' ? route.fulfill({ status, json: { error } }) : route.fallback(),
      )
      await create.click()
      await form.getByText(message).waitFor()
      await page.unroute('**/ui/api/teams')
    }
    await refused(409, 'Somebody else has just made it.')
    await refused(412, 'It is another version by now.')
    await refused(429, 'Too many changes at once.')
    await refused(503, 'The database cannot be reached.')
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe(name)
    expect(await form.getByRole('spinbutton', { name: 'Requests per minute' }).inputValue()).toBe('77')
    expect(await teamsCalled(name)).toEqual([])
  })

  it('may be written although its answer was lost, and says so', async () => {
    const name = 'Written without an answer'
    const page = await gateway.open('teams', { forgives: [/ERR_FAILED/] })
    const form = await typing(page, name)
    await page.route('**/ui/api/teams', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await form.getByRole('button', { name: 'Create' }).click()
    await form.getByText(/look whether it is done/).waitFor()
    expect(await teamsCalled(name)).toHaveLength(1)
  })

  it('is not sent later behind the back of whoever had no network', async () => {
    const name = 'Written without a network'
    const page = await gateway.open('teams', { forgives: [/ERR_INTERNET_DISCONNECTED/] })
    const form = await typing(page, name)
    await page.context().setOffline(true)
    await page.getByText('There is no network.').waitFor()
    await form.getByRole('button', { name: 'Create' }).click()
    await form.getByText('The gateway cannot be reached.', { exact: true }).waitFor()
    await page.context().setOffline(false)
    await page.getByText('There is no network.').waitFor({ state: 'detached' })
    await page.settled()
    expect(await teamsCalled(name)).toEqual([])
    await form.getByRole('button', { name: 'Create' }).click()
    await page.getByText(`${name} is created.`).waitFor()
  })
})

describe('without a network', () => {
  it('the pages that were read before are shown from memory', async () => {
    const page = await gateway.open('keys', { forgives: [/ERR_INTERNET_DISCONNECTED/] })
    await page.go('teams')
    await page.context().setOffline(true)
    await page.go('keys')
    await page.getByRole('link', { name: 'build-server' }).waitFor()
    await page.getByText('There is no network.').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.context().setOffline(false)
  })
})

describe('after a newer version was put in place', () => {
  const OLD = /\/assets\/(?!index-|button-)[^/]+\.js$/

  it('no page is blank: each offers to reload', async () => {
    const page = await gateway.open('')
    await page.route(OLD, (route) => route.fulfill({ status: 404, body: '' }))
    for (const { path, id } of PAGES) {
      // What is open needs nothing any more.
      if (path === '') continue
      await page.go(path)
      expect(await page.getByRole('heading', { level: 1 }).textContent(), id).toBe('This could not be shown')
    }
    await page.unroute(OLD)
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { level: 1, name: PAGES.at(-1)?.label ?? '' }).waitFor()
  })

  /** A shell of another version: its entry has another address, where the same file is. */
  const other = (shell: string) => shell.replaceAll('/assets/index-', '/assets/./index-')
  const SHELL = /\/console(?:\/[a-z-]+)?$/

  it('a page that is opened is opened by the newer console, without a word', async () => {
    const page = await gateway.open('')
    const shell = await (await page.request.get('/console')).text()
    let reloads = 0
    await page.route(OLD, (route) => (reloads > 0 ? route.fallback() : route.fulfill({ status: 404, body: '' })))
    await page.route(SHELL, (route) => {
      if (route.request().isNavigationRequest()) reloads++
      return route.fulfill({ contentType: 'text/html', body: other(shell) })
    })
    await page.show('teams')
    await page.getByRole('heading', { level: 1, name: 'Teams' }).waitFor()
    await page.getByRole('link', { name: 'search' }).first().waitFor()
    expect(reloads).toBe(1)
  })

  it('between two versions that are served in turn the page stays where it is, and says so', async () => {
    const page = await gateway.open('')
    const shell = await (await page.request.get('/console')).text()
    let [reloads, asked] = [0, 0]
    await page.route(/\/assets\/teams-/, (route) => route.fulfill({ status: 404, body: '' }))
    await page.route(SHELL, (route) => {
      if (route.request().isNavigationRequest()) reloads++
      else asked++
      return route.fulfill({ contentType: 'text/html', body: asked % 2 === 1 ? other(shell) : shell })
    })
    await page.show('teams')
    await page.getByRole('heading', { level: 1, name: 'This could not be shown' }).waitFor()
    expect(reloads).toBe(2)
  })

  it('what was typed is given up only by whoever says so', async () => {
    const page = await gateway.open('teams')
    await page.route(OLD, (route) => route.fulfill({ status: 404, body: '' }))
    const form = await typing(page, 'Typed before a deploy')
    await page.keyboard.press('Control+K')
    await page.getByText('the gateway was updated').waitFor()
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('Typed before a deploy')
  })
})

describe('a list', () => {
  const LISTS = /\/ui\/api\/[^?]*\?(?:.*&)?limit=100/

  it('keeps its rows when the next hundred cannot be read, and reads them later, on every page', async () => {
    const page = await gateway.open('nowhere', { as: 'platform_admin', forgives: [/answered 500/] })
    let broken = true
    await page.route(LISTS, async (route) => {
      const next = new URL(route.request().url()).searchParams.get('cursor') === 'next'
      if (next && broken) return route.fulfill({ status: 500, json: {} })
      if (next) return route.fulfill({ json: { data: [], next_cursor: null } })
      const answer = await route.fetch()
      await route.fulfill({ response: answer, json: { ...(await answer.json()), next_cursor: 'next' } })
    })
    const read: string[] = []
    for (const { path, id } of PAGES) {
      broken = true
      await page.go(path)
      const more = page.locator('main').getByRole('button', { name: 'Load 100 more' })
      if ((await more.count()) === 0) continue
      const rows = page.locator('main tbody tr')
      const before = await rows.count()
      expect(before, id).toBeGreaterThan(0)
      await more.first().click()
      await page.getByRole('alert').first().waitFor()
      expect(await rows.count(), id).toBe(before)
      broken = false
      await more.first().click()
      await page.getByText('in total').first().waitFor()
      expect(await page.getByRole('alert').count(), id).toBe(0)
      read.push(id)
    }
    expect(read.length).toBeGreaterThan(6)
  })
})
