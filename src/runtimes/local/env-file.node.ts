import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Writes variables to a file that only its owner can read: every user of the machine can read a command line. */
export function envFile(variables: Readonly<Record<string, string>>): { readonly path: string; remove(): void } {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quoted(name, value)}\n`)
  const folder = mkdtempSync(join(tmpdir(), 'gateway-variables-'))
  const path = join(folder, 'variables.env')
  writeFileSync(path, lines.join(''), { mode: 0o600 })
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Quotes a value. Nothing in it is escaped, so that it must not contain the quote itself. */
function quoted(name: string, value: string): string {
  const quote = ["'", '`'].find((one) => !value.includes(one))
  if (quote === undefined) throw new Error(`${name} holds both ' and \`; a file of variables cannot hold both.`)
  return `${quote}${value}${quote}`
}

/** The variables that a configuration file refers to and that are set. */
export function referencedVariables(
  configText: string,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const names = new Set([...configText.matchAll(/os\.environ\/([A-Za-z_]\w*)/g)].map(([, name]) => name as string))
  return Object.fromEntries([...names].flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
}
