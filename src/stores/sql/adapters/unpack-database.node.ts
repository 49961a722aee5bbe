import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

const BLOCK_BYTES = 512
const DIRECTORY = '5'.charCodeAt(0)

/** Lays a packed database, a gzipped tar of files and directories, into a folder. PGlite would do it too, and keep 150 MB
 *  of memory for it from then on. */
export function unpackDatabase(archive: string, folder: string): void {
  const tar = gunzipSync(readFileSync(archive))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // A name that begins with 0 is the end.
  for (let at = 0; at < tar.length && tar[at] !== 0; ) {
    const path = join(folder, textIn(tar, at, 100))
    const bytes = Number.parseInt(textIn(tar, at + 124, 12), 8)
    const content = at + BLOCK_BYTES
    if (tar[at + 156] === DIRECTORY) mkdirSync(path, { recursive: true, mode: 0o700 })
    else writeFileSync(path, tar.subarray(content, content + bytes), { mode: 0o600 })
    at = content + Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES
  }
}

/** The text of a header's field, which ends with its length or a zero. */
function textIn(tar: Buffer, at: number, length: number): string {
  const [text = ''] = tar.toString('utf8', at, at + length).split('\0', 1)
  return text.trim()
}
