import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { CDPSession, Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** Of its rules the only one that depends on the theme. */
const COLOURS = ['color-contrast']

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

interface World {
  readonly session: CDPSession
  readonly contextId: number
}

/** Where axe runs in each page: a world of its own, which ends when the page loads another document. */
const worlds = new WeakMap<Page, World>()

/** What axe finds wrong, in words; `within` a selector, at the last that is like it. It comes in as a debugger's does, into
 *  a world of its own: the page keeps its policy. */
export async function axeViolations(
  page: Page,
  of: 'all' | 'colours' = 'all',
  within = '',
): Promise<readonly string[]> {
  const options = { runOnly: of === 'all' ? ALL : COLOURS, resultTypes: ['violations'] }
  const { session, contextId } = await worldOf(page)
  const place = within === '' ? 'document' : `[...document.querySelectorAll(${JSON.stringify(within)})].at(-1)`
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: `axe.run(${place}, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
    contextId,
    awaitPromise: true,
    returnByValue: true,
  })
  if (exceptionDetails) throw new Error(`axe: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`)
  return (result.value as readonly Violation[]).flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id} (${help}): ${html.slice(0, 200)}\n${failureSummary}`),
  )
}

async function worldOf(page: Page): Promise<World> {
  const known = worlds.get(page)
  if (known && (await isThere(known))) return known
  const session = known?.session ?? (await page.context().newCDPSession(page))
  const { frameTree } = await session.send('Page.getFrameTree')
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'axe',
  })
  await session.send('Runtime.evaluate', { expression: SOURCE, contextId })
  const world = { session, contextId }
  worlds.set(page, world)
  return world
}

const isThere = ({ session, contextId }: World) =>
  session.send('Runtime.evaluate', { expression: '0', contextId }).then(
    () => true,
    () => false,
  )
