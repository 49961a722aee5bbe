import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { misfits } from '../../support/console/fits.ts'
import { PAGES } from '../../support/console/page-list.ts'
import { violations, withConsole } from '../../support/console/with-console.ts'

const gateway = withConsole()

/** Pages that together have everything that is drawn: tiles, charts, meters, tables, tabs, forms. */
const SEVERAL = ['', 'usage', 'requests', 'keys', 'settings', 'play']

const styleOf = (page: Page, selector: string, property: string) =>
  page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue('${property}')`)

describe('with the colours of the system', () => {
  it('pages are readable, and what is chosen is told from what is not', async () => {
    const page = await gateway.open('nowhere', { as: 'platform_admin' })
    await page.emulateMedia({ forcedColors: 'active' })
    const problems: string[] = []
    for (const path of SEVERAL) {
      await page.go(path)
      for (const found of await violations(page)) problems.push(`${path}: ${found}`)
    }
    expect(problems).toEqual([])
    await page.go('usage')
    const backgrounds = [
      '[aria-pressed=true]',
      '[aria-pressed=false]',
      '.nav-item[aria-current]',
      '.nav-item:not([aria-current])',
    ]
    const [pressed, other, current, elsewhere] = await Promise.all(
      backgrounds.map((selector) => styleOf(page, selector, 'background-color')),
    )
    expect(pressed).not.toBe(other)
    expect(current).not.toBe(elsewhere)
    // The legend of a chart has the colours of the chart.
    expect(await styleOf(page, '.legend .key-colour', 'background-color')).toBe(
      await styleOf(page, '.chart rect.c0', 'fill'),
    )
  })
})

describe('where movement is not wanted', () => {
  it('nothing moves, whatever is opened', async () => {
    const page = await gateway.open('keys', { as: 'platform_admin' })
    const moving = () => page.evaluate('document.getAnimations().length')
    await page.locator('main tbody .row-link').first().click()
    expect(await moving()).toBe(0)
    await page.keyboard.press('Control+K')
    const search = page.getByRole('dialog', { name: 'Search' })
    await search.waitFor()
    expect(await moving()).toBe(0)
    await page.keyboard.press('Escape')
    await search.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'New key' }).click()
    expect(await moving()).toBe(0)
  })
})

describe('at twice the size', () => {
  it('pages fit and are readable', async () => {
    const page = await gateway.open('nowhere', { as: 'platform_admin', width: 720, height: 450 })
    const problems: string[] = []
    for (const path of SEVERAL) {
      await page.go(path)
      for (const found of [...(await misfits(page)), ...(await violations(page))]) problems.push(`${path}: ${found}`)
    }
    expect(problems).toEqual([])
  })
})

describe('a gateway that has just been started', () => {
  const fresh = withConsole({ isEmpty: true })

  it('has pages that are readable and fit, and say what to begin with', async () => {
    const page = await fresh.open('nowhere')
    const problems: string[] = []
    for (const { path, label } of PAGES) {
      await page.go(path)
      for (const found of [...(await misfits(page)), ...(await violations(page))]) problems.push(`${label}: ${found}`)
      const words = (await page.locator('main').textContent()) ?? ''
      if (/undefined|NaN|null|\[object/.test(words)) problems.push(`${label}: ${words}`)
      // Below its title each says or offers something.
      expect(words.length, label).toBeGreaterThan(label.length + 20)
    }
    expect(problems).toEqual([])
  })
})
