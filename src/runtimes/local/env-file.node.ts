import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Variables as a file for its owner only: in a command line every user of the machine could read them. */
export function envFile(variables: Readonly<Record<string, string>>): { readonly path: string; remove(): void } {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quoted(name, value)}\n`)
  const folder = mkdtempSync(join(tmpdir(), 'gateway-variables-'))
  const path = join(folder, 'variables.env')
  writeFileSync(path, lines.join(''), { mode: 0o600 })
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Between quotes a value stands as it is, whatever is in it but those quotes. */
function quoted(name: string, value: string): string {
  const quote = ["'", '`'].find((one) => !value.includes(one))
  if (quote === undefined) throw new Error(`${name} holds both ' and \`, which no file of variables can.`)
  return `${quote}${value}${quote}`
}

/** The variables of a shell that a configuration file refers to, which are those that are set. */
export function referredVariables(
  configText: string,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const names = new Set([...configText.matchAll(/os\.environ\/([A-Za-z_]\w*)/g)].map(([, name]) => name as string))
  return Object.fromEntries([...names].flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
}
