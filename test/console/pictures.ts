import { mkdirSync, writeFileSync } from 'node:fs'
import { chromium, type Page } from 'playwright-core'
import { chromiumPath } from '../support/console/chromium.node.ts'
import { startDemo } from '../support/console/demo.node.ts'
import { DEMO_KEY } from '../support/console/demo-data.ts'
import { answer } from '../support/upstream/index.ts'

// Makes the pictures of docs/console.md again, from the demo's data, as WebP:
//
//   node test/console/pictures.ts            all of them
//   node test/console/pictures.ts usage      those with these names
const FOLDER = new URL('../../docs/pictures/', import.meta.url)
const SIZE = { width: 1440, height: 880 }
const QUALITY = 72

interface Picture {
  readonly path: string
  readonly theme?: 'dark'
  /** What is done on the page before. */
  readonly first?: (page: Page) => Promise<void>
}

const firstRow = (page: Page) => page.locator('main tbody .row-link').first().click()

const PICTURES: Readonly<Record<string, Picture>> = {
  overview: { path: '' },
  usage: { path: 'usage' },
  story: {
    path: 'requests?failed_over=true&range=7d',
    // The newest has taken no time at all.
    first: (page) => page.locator('main tbody .row-link').nth(1).click(),
  },
  health: { path: 'health', theme: 'dark' },
  playground: {
    path: 'play',
    async first(page) {
      await page.locator('textarea').first().fill('Say hello in three languages.')
      await page.keyboard.press('Control+Enter')
      await page.getByRole('link', { name: 'Story' }).waitFor()
    },
  },
  policy: { path: 'groups?open=assistant' },
  key: { path: 'keys', first: firstRow },
  audit: {
    path: 'audit',
    theme: 'dark',
    first: (page) => page.locator('main tbody tr', { hasText: 'requests per minute' }).locator('.row-link').click(),
  },
}

const wanted = process.argv.slice(2)
const demo = await startDemo({ hasPast: true })
demo.upstream.script('llama-70b', [answer({ text: 'Hello! Hallo! Bonjour!' })])
const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] })
const page = await browser.newPage({ viewport: SIZE, baseURL: demo.url, reducedMotion: 'reduce' })
const headers = { origin: demo.url, 'sec-fetch-site': 'same-origin' }
await page.request.post('/auth/internal/login', { data: { master_key: DEMO_KEY }, headers })
const session = await page.context().newCDPSession(page)
mkdirSync(FOLDER, { recursive: true })
for (const [name, { path, theme = 'light', first }] of Object.entries(PICTURES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  await page.emulateMedia({ colorScheme: theme })
  await page.goto(`/console/${path}`)
  await page.waitForLoadState('networkidle')
  await first?.(page)
  await page.waitForTimeout(1000)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
  const bytes = Buffer.from(data, 'base64')
  writeFileSync(new URL(`${name}.webp`, FOLDER), bytes)
  process.stdout.write(`docs/pictures/${name}.webp  ${Math.round(bytes.length / 1024)} KB\n`)
}
await browser.close()
await demo.close()
process.exit(0)
