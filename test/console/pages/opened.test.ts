import { describe, expect, it } from 'vitest'
import { misfits } from '../../support/console/fits.ts'
import { nothingIsWritten, openEverything } from '../../support/console/openings.ts'
import { PAGES } from '../../support/console/page-list.ts'
import { violations, withConsole } from '../../support/console/with-console.ts'

const gateway = withConsole()

describe('what a page opens, by the keyboard alone', () => {
  it.each(PAGES)('is readable, fits, closes, and gives the focus back: $label', async ({ path, label }) => {
    const page = await gateway.open(path, { as: 'platform_admin' })
    await nothingIsWritten(page)
    const problems: string[] = []
    await openEverything(page, label, {
      complain: (problem) => problems.push(problem),
      async inspect(place, within) {
        for (const found of [...(await misfits(page)), ...(await violations(page, within))]) {
          problems.push(`${place}: ${found}`)
        }
      },
    })
    expect(problems).toEqual([])
  })
})
