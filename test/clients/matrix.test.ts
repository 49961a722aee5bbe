import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type Cell, cellOf, tableOf } from '../agents/matrix.ts'
import { type Observed, observing } from '../agents/observing.ts'
import { VENDOR_NAMES } from '../support/strict-vendors/index.ts'
import { AGENTS, WORD } from './agents.ts'
import { MASTER_KEY } from './conversation.ts'

const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, { version: string }>
}
const versionOf = (client: string) => packages[`node_modules/${client.split(',')[0]}`]?.version ?? ''

/** What became of each client at each vendor. */
const rows = Object.keys(AGENTS).map((name) => ({ name, version: versionOf(name), cells: {} as Record<string, Cell> }))
let observed: Observed
beforeAll(async () => {
  observed = await observing(inject('gatewayUrl'))
})
afterAll(() => observed.close())

const PAIRS = rows.flatMap((row) => VENDOR_NAMES.map((vendor) => [row.name, vendor, row] as const))

it.each(PAIRS)('an agent over %s does its task at %s', async (name, vendor, row) => {
  const before = observed.answers.length
  const at = { origin: observed.origin, key: MASTER_KEY, model: `strict-${vendor}` }
  const said = await AGENTS[name]?.(at).catch((error: unknown) => String(error))
  row.cells[vendor] = cellOf(said?.includes(WORD) === true, observed.answers.slice(before))
  expect(said).toContain(WORD)
})

it('works, or not, as the document says', async () => {
  process.stdout.write(`${tableOf(rows, VENDOR_NAMES)}\n`)
  await expect(`${JSON.stringify(rows, null, 2)}\n`).toMatchFileSnapshot('matrix.json')
})
