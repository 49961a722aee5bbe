import type { ConsolePage } from './with-console.ts'

/** What is on the screen, and where the focus is, as far as opening and closing changes it. */
interface Sight {
  readonly dialogs: number
  readonly menus: number
  readonly panels: number
  /** The focused element in words; '' where nothing has the focus. */
  readonly focus: string
}

const SIGHT = `(() => {
  const focus = document.activeElement
  return {
    dialogs: document.querySelectorAll('dialog[open]').length,
    menus: document.querySelectorAll(':popover-open').length,
    panels: document.querySelectorAll('.panel').length,
    focus: !focus || focus === document.body ? '' : focus.outerHTML.slice(0, 160),
  }
})()`

/** The controls that may open something, each with a mark to find it by: of rows that are alike only those of the first. */
const mark = (within: string, what: string) => `(() => {
  const alike = new Set()
  const found = []
  for (const one of document.querySelectorAll(${JSON.stringify(within)} + ' ' + ${JSON.stringify(what)})) {
    const row = one.closest('tbody tr')
    if (row && row !== row.parentElement.querySelector('tr:not(.group)')) continue
    if (one.closest('dialog dialog') || !one.checkVisibility() || one.disabled || one.ariaDisabled === 'true') continue
    const name = (one.getAttribute('aria-label') ?? one.textContent).trim()
    if (/^(Close|Cancel)$/.test(name) || alike.has(name)) continue
    alike.add(name)
    const at = String(document.crawled = (document.crawled ?? 0) + 1)
    one.dataset.crawled = at
    found.push({ at, name })
  }
  return found
})()`

const firstTime = ({ at }: Control) => `(() => {
  const one = document.querySelector('[data-crawled="${at}"]')
  const isFirst = one?.dataset.pressed === undefined
  if (one) one.dataset.pressed = ''
  return isFirst
})()`

interface Control {
  readonly at: string
  readonly name: string
}

/** Where what was opened is, as a selector; '' is the whole page. */
export type Part = '' | 'dialog[open]' | ':popover-open' | '.panel' | 'main' | '.combo'

export interface Walk {
  /** Called for everything that is open, with how one gets there: `Keys › New key`. */
  readonly inspect?: (place: string, within: Part) => Promise<void>
  /** Without menus and what their items open: they are the same everywhere. */
  readonly leavesMenus?: boolean
  /** Told of what a keyboard cannot do. */
  readonly complain?: (problem: string) => void
}

const BUTTONS = 'button:not([role=tab], [role=menuitem], [role=menuitemradio], [role=option])'

/** Opens, by the keyboard alone, everything that a page has: the first row's panel, tabs, menus and what their items open,
 *  dialogs. Each is closed again by Escape. Nothing is written: see `nothingIsWritten`. */
export async function openEverything(page: ConsolePage, name: string, walk: Walk): Promise<void> {
  const { inspect = async () => {}, complain = () => {}, leavesMenus = false } = walk
  const buttons = leavesMenus ? `${BUTTONS}:not([aria-haspopup])` : BUTTONS
  const sight = () => page.evaluate(SIGHT) as Promise<Sight>
  const seen = new Set<string>()
  const once = async (place: string, within: Part) => {
    if (seen.has(place)) return
    seen.add(place)
    await inspect(place, within)
  }
  const controls = (within: string, what: string) => page.evaluate(mark(within, what)) as Promise<readonly Control[]>

  /** Presses a control; false: it is not there any more. */
  async function press({ at }: Control): Promise<boolean> {
    const there = await page.evaluate(`(() => {
      const one = document.querySelector('[data-crawled="${at}"]')
      if (!one || !one.checkVisibility() || one.disabled || one.ariaDisabled === 'true') return false
      one.focus()
      return document.activeElement === one
    })()`)
    if (!there) return false
    await page.keyboard.press('Enter')
    await page.settled()
    return true
  }

  async function closed(place: string, before: Sight, opener: Control): Promise<void> {
    await page.keyboard.press('Escape')
    await page.settled()
    const after = await sight()
    if (after.dialogs > before.dialogs || after.menus > before.menus) {
      complain(`${place}: Escape does not close it`)
      await page.keyboard.press('Escape')
    }
    const returned = await page.evaluate(`document.activeElement?.dataset.crawled === '${opener.at}'`)
    const there = await page.evaluate(
      `document.querySelector('[data-crawled="${opener.at}"]')?.checkVisibility() ?? false`,
    )
    if (after.focus === '') complain(`${place}: after it nothing has the focus`)
    else if (there && !returned)
      complain(`${place}: the focus does not go back to “${opener.name}” but to ${after.focus}`)
  }

  async function openFrom(control: Control, path: string, before: Sight): Promise<void> {
    const place = `${path} › ${control.name}`
    const now = await sight()
    if (now.dialogs > before.dialogs) {
      if (now.focus === '') complain(`${place}: nothing in it has the focus`)
      await once(place, 'dialog[open]')
      await closed(place, before, control)
    } else if (now.menus > before.menus) {
      if (now.focus === '') complain(`${place}: nothing in it has the focus`)
      await once(place, ':popover-open')
      const items = await controls(':popover-open', '[role=menuitem]:not(a)')
      await closed(place, before, control)
      for (const item of items) {
        if (!(await press(control)) || !(await press(item))) continue
        const opened = await sight()
        if (opened.focus.includes('role="combobox"')) {
          await once(`${place} › a choice`, '.combo')
          await page.keyboard.press('Escape')
          // The other items of such a menu choose likewise.
          break
        }
        if (opened.menus > before.menus) await page.keyboard.press('Escape')
        else if (opened.dialogs > before.dialogs) await openFrom(item, place, before)
        else if (opened.focus === '') complain(`${place} › ${item.name}: after it nothing has the focus`)
      }
    } else if (now.focus === '') complain(`${place}: after it nothing has the focus`)
  }

  async function pressAll(within: string, path: string): Promise<void> {
    for (const control of await controls(within, buttons)) {
      // What stands under every tab is opened under the first.
      if (!(await page.evaluate(firstTime(control)))) continue
      const before = await sight()
      if (await press(control)) await openFrom(control, path, before)
    }
  }

  async function tabs(within: 'main' | '.panel', path: string): Promise<void> {
    for (const tab of await controls(within, '[role=tab]')) {
      if (!(await press(tab))) {
        // Only the current one is in the order of tabs; arrows lead to the others.
        await page.evaluate(`document.querySelector('[data-crawled="${tab.at}"]')?.focus()`)
        await page.keyboard.press('Enter')
        await page.settled()
      }
      await once(`${path} › ${tab.name}`, within)
      await pressAll(within, `${path} › ${tab.name}`)
    }
  }

  await once(name, '')
  const path = (await page.evaluate('location.pathname')) as string
  const [row] = await controls('main', 'tbody tr .row-link')
  if (row && (await press(row))) {
    const { panels } = await sight()
    if (panels > 0) {
      const place = `${name} › panel`
      await once(place, '.panel')
      await tabs('.panel', place)
      await pressAll('.panel', place)
      await page.keyboard.press('Escape')
      await page.settled()
      const after = await sight()
      if (after.panels > 0) complain(`${place}: Escape does not close it`)
      if (after.focus === '') complain(`${place}: after it nothing has the focus`)
    } else if ((await page.evaluate('location.pathname')) !== path) {
      await page.goBack()
      await page.settled()
    }
  }
  await tabs('main', name)
  await pressAll('main', name)
}

/** Answers every write as one that came too late: what is opened can be tried without changing anything. */
export async function nothingIsWritten(page: ConsolePage): Promise<void> {
  const error = {
    message: 'Somebody else has changed it.',
    type: 'conflict_error',
    param: null,
    code: 'version_conflict',
  }
  await page.route(/\/(?:ui|auth|v1)\//, (route) =>
    route.request().method() === 'GET' ? route.fallback() : route.fulfill({ status: 409, json: { error } }),
  )
}
