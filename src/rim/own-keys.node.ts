import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface OwnKeys {
  readonly masterKey: string
  readonly saltKey: string
  /** True at the start that made them. */
  readonly fresh: boolean
}

/** The keys of a gateway whose operator named none: made at its first start, kept in its data folder. */
export function ownKeys(dataFolder: string): OwnKeys {
  const path = join(dataFolder, 'keys.json')
  if (existsSync(path)) {
    const kept: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const { masterKey, saltKey } = kept as Partial<OwnKeys>
    if (!masterKey || !saltKey) throw new Error(`${path} is damaged. Restore it, or remove it to have new keys made.`)
    return { masterKey, saltKey, fresh: false }
  }
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  const keys = {
    masterKey: `sk-${randomBytes(32).toString('base64url')}`,
    saltKey: randomBytes(32).toString('base64url'),
  }
  writeFileSync(path, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  return { ...keys, fresh: true }
}
