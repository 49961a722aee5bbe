import { mkdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { chromium, type Page } from 'playwright-core'
import { startDemo } from '../support/console/demo.node.ts'
import { DEMO_KEY } from '../support/console/demo-data.ts'

// Takes pictures of pages of the console, in both themes, at two widths:
//
//   node test/console/look.ts teams 'teams?open=search'
//   node test/console/look.ts --serve                  serves a gateway with data, until it is interrupted
//   node test/console/look.ts --at http://127.0.0.1:8790 --themes dark --widths 1440 teams
//
// Pictures are in build/looks (--out). `--click 'text=New team'` clicks before the picture; `--wait 500` waits longer.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    at: { type: 'string' },
    serve: { type: 'boolean', default: false },
    empty: { type: 'boolean', default: false },
    port: { type: 'string', default: '0' },
    out: { type: 'string', default: 'build/looks' },
    themes: { type: 'string', default: 'light,dark' },
    widths: { type: 'string', default: '1440,390' },
    click: { type: 'string', multiple: true, default: [] },
    wait: { type: 'string', default: '300' },
    'signed-out': { type: 'boolean', default: false },
  },
})

const demo =
  values.at === undefined
    ? await startDemo({ port: Number(values.port), isEmpty: values.empty, hasPast: !values.empty })
    : undefined
const url = values.at ?? demo?.url ?? ''
if (values.serve) {
  process.stdout.write(`${url}/console\nmaster key ${DEMO_KEY}\n`)
  await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve))
} else await look()
await demo?.close()
process.exit(0)

async function look(): Promise<void> {
  mkdirSync(values.out, { recursive: true })
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
  for (const width of values.widths.split(',').map(Number)) {
    const narrow = width < 700
    const context = await browser.newContext({
      viewport: { width, height: narrow ? 844 : 900 },
      hasTouch: narrow,
      isMobile: narrow,
    })
    const page = await context.newPage()
    page.on(
      'console',
      (message) => ['error', 'warning'].includes(message.type()) && process.stdout.write(`! ${message.text()}\n`),
    )
    page.on('pageerror', (error) => process.stdout.write(`! ${error.stack}\n`))
    if (!values['signed-out']) await signIn(page)
    for (const theme of values.themes.split(',')) {
      for (const path of positionals.length > 0 ? positionals : [''])
        await shoot(page, path, `${width}-${theme}`, theme)
    }
    await context.close()
  }
  await browser.close()
}

async function signIn(page: Page): Promise<void> {
  const headers = { origin: url, 'sec-fetch-site': 'same-origin' }
  const answer = await page.request.post(`${url}/auth/internal/login`, { data: { master_key: DEMO_KEY }, headers })
  if (!answer.ok()) throw new Error(`signing in: ${answer.status()} ${await answer.text()}`)
}

async function shoot(page: Page, path: string, suffix: string, theme: string): Promise<void> {
  await page.emulateMedia({ colorScheme: theme as 'light' | 'dark' })
  await page.goto(`${url}/console${path && `/${path}`}`)
  await page.waitForLoadState('networkidle')
  for (const selector of values.click) await page.locator(selector).first().click()
  await page.waitForTimeout(Number(values.wait))
  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  if (Number(overflow) > 0) process.stdout.write(`! ${path} at ${suffix} is ${overflow} px too wide\n`)
  const name = `${(path || 'front').replace(/[^\w-]+/g, '-')}-${suffix}.png`
  await page.screenshot({ path: `${values.out}/${name}` })
  process.stdout.write(`${values.out}/${name}\n`)
}
