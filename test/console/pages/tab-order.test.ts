import { describe, expect, it } from 'vitest'
import { PAGES } from '../../support/console/page-list.ts'
import { type ConsolePage, withConsole } from '../../support/console/with-console.ts'

const gateway = withConsole()

interface Stop {
  readonly name: string
  /** Counts what had the focus since the walk began; 0 is nothing of the page. */
  readonly stop: number
  readonly seen: boolean
  readonly marked: boolean
}

const BEGIN = `document.stops = 0; for (const one of document.querySelectorAll('[data-stop]')) delete one.dataset.stop`

/** What the focus is on, whether one sees it, and whether it is marked as having the focus. */
const STOP = `(() => {
  const one = document.activeElement
  if (!one || one === document.body) return { name: '', stop: 0, seen: true, marked: true }
  one.dataset.stop ??= String((document.stops += 1))
  const box = one.getBoundingClientRect()
  const style = getComputedStyle(one)
  const within = (at, most) => Math.max(0, Math.min(most - 1, at))
  const over = document.elementFromPoint(
    within(box.left + box.width / 2, innerWidth), within(box.top + box.height / 2, innerHeight))
  return {
    name: one.localName + ' “' + (one.getAttribute('aria-label') ?? one.textContent ?? '').trim().slice(0, 40) + '”',
    stop: Number(one.dataset.stop),
    seen: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth &&
      (one.contains(over) || over?.contains(one) || one.ownerSVGElement !== undefined),
    marked: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
  }
})()`

const ORDER = `[...document.querySelectorAll('[data-stop]')].map((one) => Number(one.dataset.stop))`

const MOST_STOPS = 400

/** Every stop of the tab key, once round, in the order of the document; \`order\` is the order in which they came. */
async function stops(
  page: ConsolePage,
): Promise<{ readonly found: readonly Stop[]; readonly order: readonly number[] }> {
  const found: Stop[] = []
  await page.evaluate(BEGIN)
  for (let press = 0; press < MOST_STOPS; press++) {
    await page.keyboard.press('Tab')
    const stop = (await page.evaluate(STOP)) as Stop
    // Between the end of the page and its beginning is the browser itself.
    if (stop.stop === 0) continue
    if (stop.stop <= found.length) {
      const order = (await page.evaluate(ORDER)) as readonly number[]
      const first = order.indexOf(1)
      return {
        found: order.flatMap((one) => found[one - 1] ?? []),
        order: [...order.slice(first), ...order.slice(0, first)],
      }
    }
    found.push(stop)
  }
  throw new Error(`no end after ${MOST_STOPS} stops; the last: ${found.slice(-5).map(({ name }) => name)}`)
}

describe('the tab key', () => {
  it('goes once round on every page, in the order of reading, each stop seen and marked', async () => {
    // In a column of short names only, what is offered for a name must not lie on it.
    const asked = { model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }
    await Promise.all(Array.from({ length: 100 }, () => gateway.ask('POST', '/v1/chat/completions', asked)))
    const page = await gateway.open('', { as: 'platform_admin' })
    const problems: string[] = []
    for (const { path, label } of PAGES) {
      await page.go(path)
      const { found, order } = await stops(page)
      expect(found[0]?.name, label).toContain('To the page')
      // A page may begin at the field that it is for: once round is once round from anywhere.
      expect(order, label).toEqual(order.toSorted((a, b) => a - b))
      for (const { name, seen, marked } of found) {
        if (!seen) problems.push(`${label}: ${name} is not seen`)
        if (!marked) problems.push(`${label}: ${name} is not marked`)
      }
    }
    expect(problems).toEqual([])
  }, 120_000)

  it('goes past the navigation by the link to the page', async () => {
    const page = await gateway.open('teams')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(`document.activeElement.closest('main') !== null`)).toBe(true)
  })
})

it('the focus goes to the title of the page that a link leads to, and stays on a tab that leads to another', async () => {
  const page = await gateway.open('', { as: 'platform_admin' })
  const focused = () => page.evaluate('document.activeElement.textContent')
  await page.getByRole('main').getByRole('link', { name: 'Calls', exact: true }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(focused).toBe('Requests')
  await page.go('deployments')
  await page.getByRole('tab', { name: 'Deployments' }).focus()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('tab', { name: 'Credentials', selected: true }).waitFor()
  await expect.poll(focused).toBe('Credentials')
})

it('every page is led to by keys that are listed, or by its name', async () => {
  const page = await gateway.open('', { as: 'platform_admin' })
  await page.keyboard.press('?')
  const list = page.getByRole('dialog', { name: 'Keys' })
  await list.waitFor()
  const [keys, does] = [await list.locator('dt').allTextContents(), await list.locator('dd').allTextContents()]
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  for (const { label } of [...PAGES].reverse()) {
    const at = does.indexOf(label)
    if (at >= 0) {
      for (const key of String(keys[at]).split(' ')) await page.keyboard.press(key)
    } else {
      await page.keyboard.press('Control+K')
      await page.keyboard.type(label)
      await page.getByRole('option', { name: label }).first().waitFor()
      await page.keyboard.press('Enter')
    }
    await page.getByRole('heading', { level: 1, name: label, exact: true }).waitFor()
    await page.settled()
    // Single keys are letters where somebody writes.
    await page.evaluate('document.activeElement.blur()')
  }
})
