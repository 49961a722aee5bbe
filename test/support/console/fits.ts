import type { Page } from 'playwright-core'

/** Runs in the page: what does not fit into its window, in words. What is open over the page is looked at alone. */
const MISFITS = `((touch) => {
  const found = new Set()
  const words = (one) => one.localName + (one.id ? '' : '') + '.' + [...one.classList].join('.') + ' “' +
    (one.getAttribute('aria-label') ?? one.textContent ?? '').trim().replace(/\\s+/g, ' ').slice(0, 40) + '”'
  const wide = document.documentElement.scrollWidth - innerWidth
  if (wide > 0) found.add('the page is ' + wide + ' px too wide')
  const MAY_SCROLL = '.table-wrap, pre, textarea, input, [role=tablist], .segmented'
  const top = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
  for (const one of [top, ...top.querySelectorAll('*')]) {
    if (!one.checkVisibility({ visibilityProperty: true })) continue
    const style = getComputedStyle(one)
    const scrolls = style.overflowX === 'auto' || style.overflowX === 'scroll'
    if (scrolls && one.scrollWidth > one.clientWidth + 1 && !one.matches(MAY_SCROLL)) {
      found.add('scrolls sideways by ' + (one.scrollWidth - one.clientWidth) + ' px: ' + words(one))
    }
    if (!one.matches('a, button, input, select, textarea, summary, [tabindex="0"]')) continue
    if (one.closest('.skip, [hidden]') || one.matches('.table-wrap, input[type=file], input[type=hidden]')) continue
    const box = one.getBoundingClientRect()
    if (box.width === 0 || box.height === 0) continue
    const inScroller = one.parentElement?.closest(MAY_SCROLL)
    if (!inScroller && (box.left < -1 || box.right > innerWidth + 1)) {
      found.add('is cut by the edge of the window: ' + words(one))
    }
    if (one.localName === 'button' && style.overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1) {
      found.add('its words are cut: ' + words(one))
    }
    if (!touch || one.matches('svg *, h1, h2, p a, li > a, dd a, .hint a, .notice a, td a, caption a')) continue
    // What counts is what a finger can hit: the label of a box, the row of a table.
    const target = one.matches('input[type=checkbox], input[type=radio]') ? one.closest('label') ?? one
      : one.closest('tr.opens, .tile') ?? one
    const reach = target.getBoundingClientRect()
    if (Math.round(reach.height) < 44 || Math.round(reach.width) < 24) {
      found.add('is too small for a finger (' + Math.round(reach.width) + '×' + Math.round(reach.height) + '): ' + words(one))
    }
  }
  for (const head of top.querySelectorAll('.page-head, .bar')) {
    const end = head.getBoundingClientRect().bottom
    const isOver = (part) => getComputedStyle(part).position === 'static' && part.getBoundingClientRect().bottom > end + 1
    if ([...head.children].some(isOver)) found.add('lies over what is below: ' + words(head))
  }
  if (top !== document.body) {
    const box = top.getBoundingClientRect()
    if (box.left < 0 || box.top < 0 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1) {
      found.add('is greater than the window: ' + words(top))
    }
    for (const button of top.querySelectorAll('.dialog-head button, .dialog-foot button, .panel-head button')) {
      const own = button.getBoundingClientRect()
      if (own.bottom > innerHeight + 1 || own.top < 0) found.add('cannot be reached: ' + words(button))
    }
  }
  return [...found]
})`

/** What of a page, or of what is open over it, is too wide, cut, out of reach, or (with `touch`) too small for a finger. */
export async function misfits(page: Page, { touch = false } = {}): Promise<readonly string[]> {
  return (await page.evaluate(`${MISFITS}(${touch})`)) as readonly string[]
}
