import { describe, expect, it } from 'vitest'
import { misfits } from '../../support/console/fits.ts'
import { PAGES } from '../../support/console/page-list.ts'
import { calm, STORMS, type Storm, storm } from '../../support/console/storm.ts'
import { type ConsolePage, violations, withConsole } from '../../support/console/with-console.ts'

const gateway = withConsole()

/** The pages that show something that they have read. */
const READING = PAGES.filter(({ id }) => id !== 'account')
/** An address without a page, from which one goes to the others. */
const NOWHERE = 'nowhere'

const title = (page: ConsolePage) => page.getByRole('heading', { level: 1 }).textContent()
const alerts = (page: ConsolePage) => page.getByRole('alert')
const unusable = async (page: ConsolePage) => [...(await misfits(page)), ...(await violations(page))]

async function passes(page: ConsolePage): Promise<void> {
  await calm(page)
  while ((await alerts(page).count()) > 0) {
    await alerts(page).getByRole('button', { name: 'Try again' }).first().click()
    await page.settled()
  }
  await page.go(NOWHERE)
  // What was read in between is forgotten.
  await page.clock.fastForward('10:00')
}

/** Whoever is on the page is told of what fails, and can go on when it is over. */
async function survives(page: ConsolePage, path: string, what: Storm): Promise<void> {
  const before = page.traffic.length
  await storm(page, what)
  await page.go(path)
  // What failed on the way is asked twice more before it is called a failure.
  const told = async () => {
    await page.clock.fastForward(2000)
    return alerts(page).count()
  }
  await expect.poll(told, { message: what, timeout: 10_000 }).toBeGreaterThan(0)
  expect(page.traffic.length, what).toBeGreaterThan(before)
}

describe('a page that reads', () => {
  it.each(READING)('waits, says what has failed, and goes on when it is over: $label', async ({ path, label }) => {
    const page = await gateway.open(NOWHERE, {
      as: 'platform_admin',
      forgives: [/answered 50\d/],
    })
    await page.clock.install()

    await storm(page, 'silence')
    await page.show(path)
    await page.getByRole('status', { name: 'Reading' }).first().waitFor()
    expect(await title(page)).toBe(label)
    expect(await unusable(page)).toEqual([])
    await page.clock.fastForward(4500)
    await page.getByText('Still reading').first().waitFor()
    await calm(page)
    await page.show(NOWHERE)
    await expect.poll(() => title(page)).not.toBe(label)
    // What was held back goes on its way now, and may be answered: that is forgotten.
    await page.settled()
    await page.clock.fastForward('10:00')

    for (const what of ['a failure of the gateway', 'a database that is away', 'a page of a proxy'] as const) {
      await survives(page, path, what)
      expect(await title(page), what).toBe(label)
      if (what === 'a failure of the gateway') expect(await unusable(page)).toEqual([])
      await passes(page)
    }
  })

  it('tells of everything that can stand in place of an answer', async () => {
    const page = await gateway.open(NOWHERE, { as: 'platform_admin', forgives: [/answered 50\d/] })
    await page.clock.install()
    for (const what of Object.keys(STORMS) as Storm[]) {
      await survives(page, 'teams', what)
      const away = page.getByText('Administration is read-only for now')
      expect(await away.count(), what).toBe(what === 'a database that is away' ? 1 : 0)
      await passes(page)
      expect(await away.count(), what).toBe(0)
    }
  })
})
