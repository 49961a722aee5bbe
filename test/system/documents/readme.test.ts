import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { routes } from '../../../src/app.ts'
import { FAILURES, type FailureName, GatewayError } from '../../../src/lib/errors.ts'
import { anchorsOf } from './anchors.ts'
import { CONSOLE_TYPES, consoleTypes } from './console-types.ts'
import { documents } from './documents.ts'
import { PARTS, partsOf, withGeneratedParts } from './generated.ts'
import { CONSOLE_STRATEGIES, consoleStrategies } from './strategy-names.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const all = documents()
const together = all.map(({ text }) => text).join('\n')
const textOf = (name: string) => all.find((document) => document.name === name)?.text ?? ''
const readme = textOf('README.md')
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }

describe.each(all)('$name', ({ name, text }) => {
  it('has the tables that the source writes; `npm run readme` brings them up to date', () => {
    expect(text).toBe(withGeneratedParts(text))
  })

  it('links to what is there', () => {
    // A link of an example is none.
    const prose = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '')
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link as string)
    expect(links.length).toBeGreaterThan(0)
    for (const link of links.filter((one) => !/^https?:/.test(one))) {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? name : join(dirname(name), path)
      expect(existsSync(join(root, target)), link).toBe(true)
      if (anchor !== undefined) expect(anchorsOf(textOf(target)), link).toContain(anchor)
    }
  })

  it('shows pictures that are there, light, and told in words to those who do not see them', () => {
    for (const [, words = '', path = ''] of text.matchAll(/!\[([^\]]*)\]\(([^)\s]+)\)/g)) {
      const file = join(root, dirname(name), path)
      expect(existsSync(file), path).toBe(true)
      expect(statSync(file).size, path).toBeLessThanOrEqual(100 * 1024)
      expect(words.length, path).toBeGreaterThan(20)
    }
  })

  it('names files that exist', () => {
    const files = [...text.matchAll(/`((?:src|test|docs)\/[\w./-]+)`/g)].map(([, path]) => path as string)
    for (const path of files) expect(existsSync(join(root, path)), path).toBe(true)
  })
})

it('every picture is shown in a document', () => {
  for (const name of readdirSync(`${root}docs/pictures`)) expect(together).toContain(`pictures/${name})`)
})

it('the console has the types of the contracts and the strategies; `npm run readme` writes them', () => {
  expect(readFileSync(`${root}${CONSOLE_TYPES}`, 'utf8') === consoleTypes()).toBe(true)
  expect(readFileSync(`${root}${CONSOLE_STRATEGIES}`, 'utf8')).toBe(consoleStrategies())
})

describe('the README', () => {
  it('has at most 250 lines', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(250)
  })

  it('leads to every page', () => {
    for (const { name } of all.slice(1)) expect(readme).toContain(`](${name})`)
  })

  it('calls nothing missing that is there', () => {
    const missing = readme.slice(readme.indexOf('## What is not built yet'), readme.indexOf('## More'))
    const paths = [...missing.matchAll(/`(\/[\w/]+)`/g)].map(([, path]) => path as string)
    const there = routes
      .map(({ contract }) => contract.path)
      .filter((path) => paths.some((one) => path.startsWith(one)))
    expect(missing).toMatch(/^## What is not built yet\n/)
    expect(there).toEqual([])
  })
})

describe('the documents', () => {
  it('have each part that the source writes, once', () => {
    expect(all.flatMap(({ text }) => partsOf(text)).sort()).toEqual(Object.keys(PARTS).sort())
  })

  it.each(Object.keys(FAILURES) as FailureName[])('tell the status, type and code of the failure %s', (name) => {
    const { row, status, code } = new GatewayError(name, '')
    const cell = code === null ? 'varies' : `\`${code}\``
    expect(textOf('docs/api.md')).toContain(`| ${status} | \`${row.type}\` | ${cell} |`)
  })

  it('name scripts that exist, and all of them', () => {
    const named = [...together.matchAll(/\bnpm (?:run ([a-z:]+)|(start|test))/g)].map(([, run, own]) => run ?? own)
    expect([...new Set(named)].sort()).toEqual(Object.keys(scripts).sort())
  })

  it('name every header of the gateway', () => {
    const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.ts'),
    )
    const used = sources.flatMap(
      (path) => readFileSync(`${root}src/${path}`, 'utf8').match(/'x-gateway-[a-z-]+'/g) ?? [],
    )
    const headers = new Set(used.map((name) => name.slice(1, -1)))
    expect(headers.size).toBeGreaterThan(5)
    for (const name of headers) expect(together).toContain(`\`${name}\``)
  })

  it('name every variable that the help of the command line has', () => {
    const source = readFileSync(`${root}src/runtimes/node/process/command-line.node.ts`, 'utf8')
    const help = source.slice(source.indexOf('Environment:'), source.indexOf('`\n'))
    const names = help.match(/\b[A-Z][A-Z_]+\b/g) ?? []
    expect(names.length).toBeGreaterThan(5)
    for (const name of names) expect(textOf('docs/configuration.md')).toContain(`\`${name}\``)
  })
})
