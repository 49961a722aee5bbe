import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const OTHERS = 0o077

/** Whether nobody but its owner can look into a folder. */
export function isOwnerOnly(folder: string): boolean {
  return (statSync(folder).mode & OTHERS) === 0
}

/** Takes a folder, and everything in it, from everybody but its owner. The folder itself comes last: as long as it is
 *  open, this has not come to its end. */
export function makeOwnerOnly(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) makeOwnerOnly(path)
    else if (entry.isFile()) chmodSync(path, 0o600)
  }
  chmodSync(folder, 0o700)
}
