import { describe, expect, it } from 'vitest'
import { PAGES } from '../../support/console/page-list.ts'
import { type ConsolePage, withConsole } from '../../support/console/with-console.ts'

const gateway = withConsole()

const inZone = (timeZone: string, options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone })
  return (at: string) => format.format(new Date(at))
}
const HOUR = 3_600_000

/** The ranges that a page has asked sums for. */
const askedRanges = (page: ConsolePage) =>
  page.traffic
    .map(({ path }) => new URL(path, gateway.url))
    .filter(({ pathname }) => pathname.startsWith('/ui/api/spend/'))
    .map(({ searchParams }) => ({ from: searchParams.get('from') ?? '', to: searchParams.get('to') ?? '' }))

describe.each(['Asia/Kolkata', 'America/St_Johns', 'Pacific/Auckland'])('in the time zone %s', (timeZone) => {
  it('every moment of every page is one of that zone, and says so', async () => {
    const page = await gateway.open('nowhere', { as: 'platform_admin', timeZone })
    const moment = inZone(timeZone, { dateStyle: 'medium', timeStyle: 'medium' })
    // A browser may know it by an older name.
    const name = await page.evaluate('Intl.DateTimeFormat().resolvedOptions().timeZone')
    let seen = 0
    for (const { path, id } of PAGES) {
      await page.go(path)
      const times = (await page.evaluate(
        `[...document.querySelectorAll('main time')].map((one) => [one.dateTime, one.title])`,
      )) as readonly (readonly [at: string, title: string])[]
      for (const [at, title] of times) expect(title, id).toBe(`${moment(at)} (${name})`)
      seen += times.length
    }
    expect(seen).toBeGreaterThan(20)
  })

  it('sums are of whole hours of UTC, and the range that is shown is the one that is asked', async () => {
    const page = await gateway.open('usage?from=2026-10-01T04:10:00.000Z&to=2026-10-03T19:40:00.000Z', { timeZone })
    const ranges = askedRanges(page)
    expect(ranges.length).toBeGreaterThan(0)
    for (const range of ranges) {
      expect(range).toEqual({ from: '2026-10-01T04:00:00.000Z', to: '2026-10-03T20:00:00.000Z' })
    }
    const shown = inZone(timeZone, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
    const label = `${shown('2026-10-01T04:00:00Z')} – ${shown('2026-10-03T20:00:00Z')}`
    await page.getByRole('button', { name: label }).waitFor()
    await page.go('requests?from=2026-10-01T00:00:00.000Z&to=2026-10-06T00:00:00.000Z')
    const days = await page.getByRole('img', { name: 'Calls by day of UTC' }).locator('text').allTextContents()
    expect(days.filter((text) => / Oct$| Sept$/.test(text))).toEqual(['1 Oct', '2 Oct', '3 Oct', '4 Oct', '5 Oct'])
  })

  it('what is typed as a range is the time of the zone', async () => {
    const page = await gateway.open('usage', { timeZone })
    await page.getByRole('button', { name: 'Last 7 days' }).click()
    await page.getByRole('menuitem', { name: 'From … to …' }).click()
    await page.getByLabel('From', { exact: true }).fill('2026-10-10T12:00')
    await page.getByLabel('To (exclusive)').fill('2026-10-11T12:00')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.settled()
    const { searchParams } = new URL(page.url())
    const [from, to] = [searchParams.get('from') ?? '', searchParams.get('to') ?? '']
    expect(inZone(timeZone, { dateStyle: 'short', timeStyle: 'short' })(from)).toBe('10/10/2026, 12:00')
    expect(Date.parse(to) - Date.parse(from)).toBe(24 * HOUR)
  })
})

it.each([
  ['25 hours, when clocks go back', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z', 25],
  ['23 hours, when they go forward', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z', 23],
])('a day in Berlin has %s', async (_, from, to, hours) => {
  const page = await gateway.open(`usage?from=${from}&to=${to}`, { timeZone: 'Europe/Berlin' })
  for (const range of askedRanges(page)) expect(range).toEqual({ from, to })
  const shown = inZone('Europe/Berlin', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
  expect(shown(from)).toContain('00:00')
  expect(shown(to)).toContain('00:00')
  // Earlier is as long as the range is.
  await page.getByRole('button', { name: 'Earlier' }).click()
  await page.settled()
  const before = new URL(page.url()).searchParams
  expect(before.get('to')).toBe(from)
  expect((Date.parse(from) - Date.parse(before.get('from') ?? '')) / HOUR).toBe(hours)
})

describe.each(['de-DE', 'ar-EG', 'hi-IN'])('in a browser that speaks %s', (locale) => {
  it('numbers are those of everybody, and what is typed is what is sent', async () => {
    const page = await gateway.open('nowhere', { as: 'platform_admin', locale })
    for (const { path, id } of PAGES) {
      await page.go(path)
      expect(await page.locator('main').textContent(), id).not.toMatch(/[\u0660-\u0669\u0966-\u096f]/)
    }
    const name = `Numbers of ${locale}`
    await page.go('teams')
    await page.getByRole('button', { name: 'New team' }).click()
    const form = page.getByRole('dialog', { name: 'New team' })
    await form.getByLabel('Name', { exact: true }).fill(name)
    await form.getByRole('spinbutton', { name: 'Requests per minute' }).fill('1234567')
    await form.getByRole('button', { name: 'Create' }).click()
    await page.getByText(`${name} is created.`).waitFor()
    const { data } = (await gateway.ask('GET', `/ui/api/teams?search=${encodeURIComponent(name)}`)).body
    expect(data).toMatchObject([{ rpm_limit: 1234567 }])
  })
})
