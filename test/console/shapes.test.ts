import { describe, expect, it } from 'vitest'
import { misfits } from '../support/console/fits.ts'
import { PAGES } from '../support/console/page-list.ts'
import { type ConsolePage, withConsole } from '../support/console/with-console.ts'

const gateway = withConsole()

const API = /^http:\/\/[^/]+\/(?:ui\/api|v1|health)(?:[/?]|$)/

/** Answers of status 200 that no gateway of this version gives. */
const FOREIGN = { 'an empty object': {}, nothing: null, 'rows without fields': { data: [{}], next_cursor: null } }

const answering = (page: ConsolePage, json: unknown) =>
  page.route(API, (route) => (route.request().method() === 'GET' ? route.fulfill({ json }) : route.fallback()))

/** What a page shows besides its frame and its title. */
const content = async (page: ConsolePage) => String(await page.locator('main .page-body').textContent()).trim()

describe('an answer of a form that the console does not know', () => {
  it.each(Object.entries(FOREIGN))('blanks no page, and each is whole again when asked anew: %s', async (_, json) => {
    const page = await gateway.open('nowhere', { as: 'platform_admin' })
    for (const { path, id, label } of PAGES) {
      await answering(page, json)
      // What other pages have read is no help.
      await page.goto(`/console/${path}`)
      await page.getByRole('heading', { level: 1, name: label }).waitFor()
      await page.settled()
      expect(await content(page), id).not.toBe('')
      expect(await page.getByRole('navigation').count(), id).toBeGreaterThan(0)
      expect(await misfits(page), id).toEqual([])
      await page.unroute(API)
      for (let alerts = page.getByRole('alert'); (await alerts.count()) > 0; ) {
        // All that are there now: one may bring others back, and go away with them.
        await alerts.getByRole('button', { name: 'Try again' }).evaluateAll((all) => {
          for (const button of all as unknown as { click(): void }[]) button.click()
        })
        await page.settled()
      }
    }
  })
})

describe('what takes long', () => {
  it('can be left, and asked for again', async () => {
    const page = await gateway.open('nowhere')
    await page.clock.install()
    await page.route(API, () => undefined)
    await page.show('teams')
    await page.getByRole('status', { name: 'Reading' }).first().waitFor()
    await page.clock.fastForward(4500)
    await page.getByText('Still reading').first().waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.getByRole('button', { name: 'Cancel' }).first().click()
    await page.getByRole('alert').getByText('The answer did not arrive completely.').waitFor()
    await page.unroute(API)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('main tbody tr[data-id]').first().waitFor()
  })
})

describe('a page that reads by itself', () => {
  it('waits as long as the gateway says', async () => {
    const page = await gateway.open('nowhere')
    await page.clock.install()
    await page.go('health')
    let asked = 0
    const error = { message: 'There were too many requests.', type: 'rate_limit_error', param: null, code: 'rate' }
    await page.route(API, (route) => {
      asked += 1
      return route.fulfill({ status: 429, headers: { 'retry-after': '40' }, json: { error } })
    })
    await page.clock.runFor(6000)
    await page.getByRole('alert').first().waitFor()
    await page.settled()
    const refused = asked
    expect(refused).toBeGreaterThan(0)
    await page.clock.runFor(30_000)
    await page.settled()
    expect(asked).toBe(refused)
    await page.unroute(API)
    await page.clock.runFor(15_000)
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })
})
