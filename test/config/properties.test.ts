import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { ConfigError } from '../../src/config/config-error.ts'
import { readYaml } from '../../src/config/read-yaml.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { fullEnvironment, fullYaml } from './full.ts'

type Tree = Record<string, unknown>

const read = readYaml(fullYaml).tree as Tree
const full = () => structuredClone(read)

/** Every place of a tree that holds a value. */
function placesIn(node: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof node !== 'object' || node === null) return [path]
  const entries = Array.isArray(node) ? [...node.entries()] : Object.entries(node)
  return [path, ...entries.flatMap(([key, member]) => placesIn(member, [...path, key]))]
}

function replaced(path: readonly (string | number)[], value: unknown): Tree {
  const tree = full()
  let holder: unknown = tree
  for (const key of path.slice(0, -1)) holder = (holder as Tree)[key]
  ;(holder as Tree)[path.at(-1) as string] = value
  return tree
}

/** What loading gave: nothing, or the text of its mistakes. Anything thrown but ConfigError passes through. */
function attempt(yaml: string, env: Readonly<Record<string, unknown>> = fullEnvironment): string {
  try {
    loadConfig(yaml, env)
    return ''
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    expect(error.mistakes.length).toBeGreaterThan(0)
    for (const { path, message } of error.mistakes) {
      expect(path).not.toBe('')
      expect(message).toMatch(/^[^\n]+$/)
    }
    return error.message
  }
}

const places = placesIn(full()).filter((path) => path.length > 0)
const anything = fc.anything({ maxDepth: 3, withNullPrototype: false })

describe('any input', () => {
  it('throws ConfigError and nothing else for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => void attempt(text)),
      { numRuns: 300 },
    )
  })

  it('throws ConfigError and nothing else for pieces of YAML in any order', () => {
    const piece = fc.constantFrom(
      'a',
      ': ',
      '- ',
      '\n',
      '  ',
      '[',
      ']',
      '{',
      '}',
      '&x ',
      '*x',
      '!!set ',
      '"',
      '<<',
      '|',
      '? ',
      '#',
      'model_list',
      '---\n',
      '~',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => void attempt(pieces.join(''))),
      { numRuns: 300 },
    )
  })

  it('throws ConfigError and nothing else when anything stands anywhere', () => {
    const property = fc.property(fc.constantFrom(...places), fc.jsonValue({ maxDepth: 3 }), (path, value) => {
      attempt(stringify(replaced(path, value)))
    })
    fc.assert(property, { numRuns: 120 })
  })

  it('throws ConfigError and nothing else for any tree below the known sections', () => {
    const section = fc.dictionary(fc.constantFrom(...places.map((path) => String(path.at(-1)))), anything)
    const tree = fc.record(
      {
        general_settings: section,
        router_settings: section,
        gateway_settings: section,
        model_list: fc.array(section, { maxLength: 4 }),
      },
      { requiredKeys: [] },
    )
    const text = (value: unknown) => {
      try {
        return stringify(value)
      } catch {
        return ''
      }
    }
    fc.assert(
      fc.property(tree, (value) => void attempt(text(value))),
      { numRuns: 120 },
    )
  })
})

describe('secrets', () => {
  const secrets = places.filter((path) => {
    const value = path.reduce<unknown>((node, key) => (node as Tree)[key], full())
    return typeof value === 'string' && (value.includes('canary') || value.startsWith('os.environ/'))
  })

  it('never stand in mistakes, whatever else is wrong beside them', () => {
    const property = fc.property(fc.constantFrom(...places), fc.jsonValue({ maxDepth: 2 }), (path, value) => {
      expect(attempt(stringify(replaced(path, value)))).not.toContain('canary')
    })
    fc.assert(property, { numRuns: 150 })
  })

  it.each(secrets.map((path) => [path.join('.'), path]))('%s is not repeated when it is itself wrong', (_, path) => {
    for (const value of [['canary'], { a: 'canary' }, '\ncanary', 'canary', 'http://canary:canary@x.y']) {
      expect(attempt(stringify(replaced(path as string[], value)))).not.toContain('canary')
    }
  })

  it('never stand in the mistakes of text that is cut anywhere', () => {
    for (let end = 0; end < fullYaml.length; end += 211) {
      expect(attempt(fullYaml.slice(0, end))).not.toContain('canary')
      expect(attempt(`${fullYaml.slice(0, end)}\n  ]{"`)).not.toContain('canary')
    }
  })
})
