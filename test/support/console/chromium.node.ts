import { existsSync } from 'node:fs'
import type { Browser } from 'playwright-core'

/** Where a browser is, unless `CHROMIUM` says it. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

let launched: Promise<Browser> | undefined

/** The browser of this process. It ends with it. */
export function chromiumOfTests(): Promise<Browser> {
  launched ??= launch()
  return launched
}

export function chromiumPath(): string {
  const path = process.env.CHROMIUM ?? PLACES.find((one) => existsSync(one))
  if (!path) throw new Error('no Chromium on this machine: set CHROMIUM to its path')
  return path
}

async function launch(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}
