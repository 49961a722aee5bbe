import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const OTHERS = 0o077

/** Whether a folder is accessible to its owner only. */
export function isOwnerOnly(folder: string): boolean {
  return (statSync(folder).mode & OTHERS) === 0
}

/** Makes a folder and everything in it accessible to its owner only. The folder itself is changed last, so its mode shows
 *  whether this was completed. */
export function makeOwnerOnly(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) makeOwnerOnly(path)
    else if (entry.isFile()) chmodSync(path, 0o600)
  }
  chmodSync(folder, 0o700)
}
