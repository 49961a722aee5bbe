import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'

const BUILT = new URL('../../build/console/', import.meta.url)
const shell = readFileSync(new URL('shell.html', BUILT), 'utf8')
const bytesOf = (name: string) => gzipSync(readFileSync(new URL(`files/assets/${name}`, BUILT)), { level: 9 }).length
const sum = (names: readonly string[]) => names.reduce((total, name) => total + bytesOf(name), 0)
const entry = [...shell.matchAll(/"\/assets\/([^"]+)"/g)].map(([, name]) => name as string)

const KB = 1024

describe('the size of the console, compressed', () => {
  it('is at most 25 KB of script and 8 KB of style before the first page', () => {
    const scripts = entry.filter((name) => name.endsWith('.js'))
    expect(scripts).not.toEqual([])
    expect(sum(scripts)).toBeLessThanOrEqual(25 * KB)
    expect(sum(entry.filter((name) => name.endsWith('.css')))).toBeLessThanOrEqual(8 * KB)
  })

  it('is at most 12 KB for each part that is loaded when it is needed', () => {
    const large = readdirSync(new URL('files/assets/', BUILT))
      .filter((name) => !entry.includes(name))
      .map((name) => [name, bytesOf(name)] as const)
      .filter(([, bytes]) => bytes > 12 * KB)
    expect(large).toEqual([])
  })
})
