import { describe, expect, it } from 'vitest'
import { misfits } from '../../support/console/fits.ts'
import { nothingIsWritten, openEverything } from '../../support/console/openings.ts'
import { PAGES } from '../../support/console/page-list.ts'
import { withConsole } from '../../support/console/with-console.ts'

const gateway = withConsole()

describe('on a phone', () => {
  it.each(PAGES)('everything fits, and is large enough for a finger: $label', async ({ path, label }) => {
    const page = await gateway.open(path, { as: 'platform_admin', width: 390, height: 740 })
    await nothingIsWritten(page)
    const problems: string[] = []
    await openEverything(page, label, {
      leavesMenus: path !== 'people' && path !== 'requests',
      async inspect(place) {
        for (const found of await misfits(page, { touch: true })) problems.push(`${place}: ${found}`)
      },
    })
    expect(problems).toEqual([])
  })
})

describe.each([
  ['the narrowest window', 320, 640],
  ['twice as large letters', 720, 450],
])('in %s', (_, width, height) => {
  it('every page and its panel fit', async () => {
    const page = await gateway.open('nowhere', { as: 'platform_admin', width, height })
    const problems: string[] = []
    for (const { path, label } of PAGES) {
      await page.go(path)
      for (const found of await misfits(page)) problems.push(`${label}: ${found}`)
      const row = page.locator('main tbody .row-link').first()
      if ((await row.count()) === 0) continue
      await row.click()
      await page.settled()
      for (const found of await misfits(page)) problems.push(`${label} › panel: ${found}`)
    }
    expect(problems).toEqual([])
  })
})

it('in the narrowest window the choice of columns has no line for itself', async () => {
  const page = await gateway.open('nowhere', { as: 'platform_admin', width: 320, height: 640 })
  const alone: string[] = []
  for (const { path, label } of PAGES) {
    await page.go(path)
    const choice = page.locator('main .bar').getByRole('button', { name: 'Columns' })
    if ((await choice.count()) === 0) continue
    const neighbours = await choice.first().evaluate((button) => {
      const top = (element: typeof button) => Math.round(element.getBoundingClientRect().top)
      const others = button.closest('.bar')?.querySelectorAll('button, a, input, select') ?? []
      return [...others].filter((other) => other !== button && other.checkVisibility() && top(other) === top(button))
        .length
    })
    if (neighbours === 0) alone.push(label)
  }
  expect(alone).toEqual([])
})

it.each([1024, 1280, 1440])(
  'lists of people and what they have need no scrolling sideways in a window of %s',
  async (width) => {
    const page = await gateway.open('nowhere', { as: 'platform_admin', width, height: 800 })
    const wide: string[] = []
    for (const path of ['organizations', 'teams', 'keys', 'people']) {
      await page.go(path)
      const over = await page
        .locator('main .table-wrap')
        .first()
        .evaluate((element) => {
          // The longest that a time becomes as the page is looked at.
          for (const time of element.querySelectorAll('time')) time.textContent = '59 min ago'
          return element.scrollWidth - element.clientWidth
        })
      if (over > 0) wide.push(`${path}: ${over} px`)
    }
    expect(wide).toEqual([])
  },
)
