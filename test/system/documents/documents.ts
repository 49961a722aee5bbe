import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

export interface Document {
  /** From the root of the project. */
  readonly name: string
  readonly path: string
  readonly text: string
}

/** The README and every page of docs. */
export function documents(): Document[] {
  const pages = readdirSync(`${root}docs`).filter((name) => name.endsWith('.md'))
  return ['README.md', ...pages.sort().map((name) => `docs/${name}`)].map((name) => {
    const path = `${root}${name}`
    return { name, path, text: readFileSync(path, 'utf8') }
  })
}
