import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scratch } from '../../../lib/forms/spool.ts'

/** Opens unlinked files, which the operating system removes when the process ends in any way. Where the folder for
 *  temporary files cannot be written to, as in a container without one, they lie in `otherwise`. */
export function temporaryFiles(otherwise: string): () => Promise<Scratch> {
  return async () => scratchOf(await openIn(tmpdir()).catch(() => openIn(otherwise)))
}

async function openIn(folder: string): Promise<FileHandle> {
  const path = join(folder, `gateway-upload-${crypto.randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

function scratchOf(file: FileHandle): Scratch {
  let length = 0
  return {
    async append(bytes) {
      for (let written = 0; written < bytes.byteLength; ) {
        const { bytesWritten } = await file.write(bytes, written, bytes.byteLength - written, length + written)
        written += bytesWritten
      }
      length += bytes.byteLength
    },
    async read(position, limit) {
      const { buffer, bytesRead } = await file.read(new Uint8Array(limit), 0, limit, position)
      if (bytesRead === 0) throw new RangeError('these bytes were not written')
      return buffer.subarray(0, bytesRead)
    },
    close: () => void file.close().catch(() => {}),
  }
}
