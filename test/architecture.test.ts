import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { routes } from '../src/app.ts'
import { providers } from '../src/providers/index.ts'
import { strategies } from '../src/routing/strategies/index.ts'
import { metrics } from '../src/telemetry/metrics/index.ts'

/** Folders of src in the order of a request. A file imports from its own folder and from those below it. */
const ORDER = [
  'runtimes',
  'console',
  'api',
  'batch',
  'mail',
  'identity',
  'pipeline',
  'limits',
  'telemetry',
  'routing',
  'providers',
  'mcp',
  'modes',
  'transport',
  'stores',
  'config',
  'lib',
]

/** Entry files may import anything. */
const ENTRIES = new Set(['worker.ts', 'node.ts', 'app.ts', 'services.ts', 'scheduled.ts', 'text-modules.d.ts'])

/** As many as stand side by side. */
const MOST_FILES = 22

/** Folders of files that are all alike. */
const REGISTRIES = new Set(['telemetry/metrics', 'routing/strategies', 'console/pages'])

/** Where the core touches a module of Node, with what `nodejs_compat` has. */
const NODE_MODULES_OF_THE_CORE = new Map([
  ['lib/crypto.ts', ['node:crypto']],
  ['lib/json/lazy-json.ts', ['node:buffer']],
  ['lib/bytes/latin1.ts', ['node:buffer']],
  ['lib/bytes/base64.ts', ['node:buffer']],
  ['lib/bytes/zstd.ts', ['node:zlib']],
  // In the code of a call, which it shows.
  ['console/data/call-samples.ts', ['node:fs', 'node:fs/promises']],
])

/** Statements that kysely does not write: each file says why its own are static text. */
const STATIC_STATEMENTS = [
  'stores/queue/postgres.ts',
  'stores/sql/records/caller-records.ts',
  'stores/sql/records/model-records.ts',
  'stores/sql/schema/apply-schema.ts',
  'stores/sql/spend/spend-folded.ts',
  'stores/sql/spend/spend-rows.ts',
]
const STATEMENT = /\{\s*sql: [^}]*\bparameters\b/

/** Folders of test that mirror nothing of src. */
const TEST_FOLDERS = ['spec', 'contracts', 'runtime', 'system', 'agents', 'clients', 'bench', 'support', 'fixtures']

const src = resolve(import.meta.dirname, '../src')

function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? filesOf(join(folder, entry.name))
      : /\.tsx?$/.test(entry.name)
        ? [join(folder, entry.name)]
        : [],
  )
}

const files = filesOf(src).map((path) => {
  const text = readFileSync(path, 'utf8')
  const specifiers = [...text.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)'([^']+)'/g)].map((match) => match[1] as string)
  return { path, name: relative(src, path), text, specifiers }
})

const core = files.filter(({ name }) => !name.endsWith('.node.ts') && name !== 'node.ts' && !name.endsWith('.d.ts'))

describe('the tree', () => {
  it('has only the folders that the order knows', () => {
    const folders = readdirSync(src).filter((name) => statSync(join(src, name)).isDirectory())
    expect(folders.filter((name) => !ORDER.includes(name))).toEqual([])
  })

  it('imports downwards only', () => {
    const upwards = files.flatMap(({ path, name, specifiers }) => {
      if (ENTRIES.has(name)) return []
      const own = ORDER.indexOf(name.split('/')[0] as string)
      return specifiers
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => relative(src, resolve(dirname(path), specifier)))
        .filter((target) => {
          if (target.startsWith('..')) return false
          // A runtime builds the app; nobody else knows the entry files.
          if (ENTRIES.has(target)) return own > ORDER.indexOf('runtimes')
          return ORDER.indexOf(target.split('/')[0] as string) < own
        })
        .map((target) => `${name} → ${target}`)
    })
    expect(upwards).toEqual([])
  })

  it('keeps the console apart: it speaks to the gateway over HTTP, and shares no code with it', () => {
    const inside = files.filter(({ name }) => name.startsWith('console/'))
    expect(inside.length).toBeGreaterThan(20)
    const leaving = inside.flatMap(({ path, name, specifiers }) =>
      specifiers
        .filter(
          (one) => one.startsWith('.') && relative(join(src, 'console'), resolve(dirname(path), one)).startsWith('..'),
        )
        .map((one) => `${name} → ${one}`),
    )
    expect(leaving).toEqual([])
    const entering = files.filter(
      ({ name, specifiers }) =>
        !name.startsWith('console/') &&
        specifiers.some((one) => /(?:^|\/)src\/console\/|\/console\/(?:design|data|pages)\//.test(one)),
    )
    expect(entering.map(({ name }) => name)).toEqual([])
  })

  it('has no import cycle', () => {
    const imports = new Map(
      files.map(({ path, name, specifiers }) => [
        name,
        specifiers.filter((one) => one.startsWith('.')).map((one) => relative(src, resolve(dirname(path), one))),
      ]),
    )
    /** Files of which nothing that they import leads back to them. */
    const clear = new Set<string>()
    const way: string[] = []
    function cycleFrom(name: string): string[] | undefined {
      if (clear.has(name)) return undefined
      if (way.includes(name)) return [...way.slice(way.indexOf(name)), name]
      way.push(name)
      for (const target of imports.get(name) ?? []) {
        const cycle = cycleFrom(target)
        if (cycle) return cycle
      }
      way.pop()
      clear.add(name)
      return undefined
    }
    for (const { name } of files) expect(cycleFrom(name)?.join(' → ')).toBeUndefined()
  })

  it('leaves the writing of statements to kysely, but for the few of which a file says why', () => {
    const others = core.filter(({ name }) => !ENTRIES.has(name) && !name.startsWith('stores/sql/adapters/'))
    const own = others.filter(({ text }) => STATEMENT.test(text))
    expect(own.map(({ name }) => name).sort()).toEqual([...STATIC_STATEMENTS].sort())
    expect(own.filter(({ text }) => !text.includes('Static text: ')).map(({ name }) => name)).toEqual([])
    expect(files.filter(({ text }) => text.includes('sql.raw')).map(({ name }) => name)).toEqual([])
  })

  it('has folders that a reader can take in', () => {
    const byFolder = Object.groupBy(files, ({ name }) => dirname(name))
    const large = Object.entries(byFolder).filter(
      ([folder, inside]) => !REGISTRIES.has(folder) && (inside?.length ?? 0) > MOST_FILES,
    )
    expect(large.map(([folder, inside]) => `${folder}: ${inside?.length}`)).toEqual([])
  })

  it('keeps Node out of the core', () => {
    const found = core.flatMap(({ name, specifiers }) =>
      specifiers
        .filter((specifier) => specifier.startsWith('node:') || specifier.endsWith('.node.ts'))
        .filter((specifier) => !NODE_MODULES_OF_THE_CORE.get(name)?.includes(specifier))
        .map((specifier) => `${name} → ${specifier}`),
    )
    expect(found).toEqual([])
  })

  it('keeps Hono above the pipeline', () => {
    const found = files.filter(
      ({ name, specifiers }) =>
        !/^(api|runtimes)\//.test(name) &&
        !ENTRIES.has(name) &&
        specifiers.some((specifier) => /^(hono|@hono\/)/.test(specifier)),
    )
    expect(found.map(({ name }) => name)).toEqual([])
  })

  it('asks objects instead of switching on names', () => {
    const found = files.filter(({ text }) =>
      /switch \((?:[\w.]*\.)?(provider|strategy|mode|kind)(?:\.name|\.kind)?\)/.test(text),
    )
    expect(found.map(({ name }) => name)).toEqual([])
  })

  it('has no drawers', () => {
    const drawers = files.filter(({ name }) => /(^|\/)(utils?|helpers?|types|common|misc)\.ts$/.test(name))
    expect(drawers.map(({ name }) => name)).toEqual([])
  })

  it('has files that a reader can hold', () => {
    const written = files.filter(({ name }) => name !== 'console/api-types.ts')
    const long = written.filter(({ text }) => text.split('\n').length > 300)
    expect(long.map(({ name }) => name)).toEqual([])
  })
})

describe('the tests', () => {
  const foldersOf = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [join(folder, entry.name), ...foldersOf(join(folder, entry.name))] : [],
    )

  it('lie in the folder of what they test', () => {
    const entries = readdirSync(import.meta.dirname, { withFileTypes: true })
    const mirrored = entries
      .filter((entry) => entry.isDirectory() && !TEST_FOLDERS.includes(entry.name))
      .flatMap(({ name }) => [name, ...foldersOf(join(import.meta.dirname, name))])
      .map((folder) => relative(import.meta.dirname, resolve(import.meta.dirname, folder)))
    expect(mirrored).toContain('pipeline/admit')
    expect(mirrored.filter((folder) => !existsSync(join(src, folder)))).toEqual([])
    expect(entries.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual(['architecture.test.ts'])
  })

  it('of the whole system have a folder for each topic', () => {
    const system = readdirSync(join(import.meta.dirname, 'system'), { withFileTypes: true })
    expect(system.filter((entry) => !entry.isDirectory()).map(({ name }) => name)).toEqual([])
  })
})

describe('the registries', () => {
  it('name every strategy after its file', () => {
    const names = [...strategies.keys()]
    const written = readdirSync(join(src, 'routing/strategies')).map((file) => file.replace('.ts', ''))
    expect(names.filter((name) => !written.includes(name))).toEqual([])
  })

  it('have one metric a name, and names of ours', () => {
    const names = metrics.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^gateway_[a-z_]+$/)
  })

  it('have one provider a kind, each with a mode', () => {
    for (const [kind, provider] of providers) {
      expect(provider.kind).toBe(kind)
      expect(Object.keys(provider.adapters).length).toBeGreaterThan(0)
    }
  })

  it('have one route a method and path', () => {
    const names = routes.map(({ contract }) => `${contract.method} ${contract.path}`)
    expect(new Set(names).size).toBe(names.length)
  })
})
