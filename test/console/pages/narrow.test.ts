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
