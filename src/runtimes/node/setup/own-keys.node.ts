import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newApiKey } from '../../../lib/token.ts'
import { writableFolder } from './writable-folder.node.ts'

export interface OwnKeys {
  readonly masterKey: string
  readonly saltKey: string
  /** True at the start that generated them. */
  readonly fresh: boolean
}

/** Keys for a gateway without configured ones: generated at its first start, and kept in its data folder. */
export function ownKeys(dataFolder: string): OwnKeys {
  writableFolder(dataFolder)
  const path = join(dataFolder, 'keys.json')
  const fresh = !existsSync(path) && make(path)
  const { masterKey, saltKey } = read(path)
  if (typeof masterKey === 'string' && typeof saltKey === 'string') return { masterKey, saltKey, fresh }
  throw new Error(`${path} is damaged. Restore it, or remove it to have new keys made.`)
}

function read(path: string): Partial<Record<keyof OwnKeys, unknown>> {
  const text = readFileSync(path, 'utf8')
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** Writes the file atomically; false if another process has written it before. */
function make(path: string): boolean {
  const keys = {
    masterKey: newApiKey(),
    saltKey: randomBytes(32).toString('base64url'),
  }
  const written = `${path}.${process.pid}`
  writeFileSync(written, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(written, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(written)
  }
}
