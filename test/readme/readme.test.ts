import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { routes } from '../../src/app.ts'
import { ROUTING_STRATEGIES } from '../../src/config/sections/router-settings.ts'
import { FAILURES, type FailureName, GatewayError } from '../../src/lib/errors.ts'
import { withGeneratedParts } from './generated.ts'

const root = new URL('../../', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')
const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  scripts: Record<string, string>
}

describe('the README', () => {
  it('has the tables that the source writes; `npx node test/readme/write.ts` brings them up to date', () => {
    expect(readme).toBe(withGeneratedParts(readme))
  })

  it.each(Object.keys(FAILURES) as FailureName[])('tells the status, type and code of the failure %s', (name) => {
    const { row, status, code } = new GatewayError(name, '')
    expect(readme).toContain(`| ${status} | \`${row.type}\` | ${code === null ? 'varies' : `\`${code}\``} |`)
  })

  it('calls nothing missing that is there', () => {
    const missing = readme.slice(readme.indexOf('**What is not built yet.**'), readme.indexOf('## Start'))
    const paths = [...missing.matchAll(/`(\/[\w/]+)`/g)].map(([, path]) => path as string)
    const there = routes
      .map(({ contract }) => contract.path)
      .filter((path) => paths.some((one) => path.startsWith(one)))
    expect(paths.length).toBeGreaterThan(0)
    expect(there).toEqual([])
  })

  it('names every strategy', () => {
    for (const strategy of ROUTING_STRATEGIES) expect(readme).toContain(`\`${strategy}\``)
  })

  it('names scripts that exist, and all of them', () => {
    const named = [...readme.matchAll(/\bnpm (?:run ([a-z:]+)|(start|test))/g)].map(([, run, own]) => run ?? own)
    expect([...new Set(named)].sort()).toEqual(Object.keys(scripts).sort())
  })

  it('names files that exist', () => {
    const files = [...readme.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, path]) => path as string)
    expect(files.length).toBeGreaterThan(10)
    for (const path of files) expect(existsSync(new URL(path, root)), path).toBe(true)
  })
})
