import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Blobs } from './blobs.ts'
import { checkKey } from './key.ts'

const CHUNK_BYTES = 64 * 1024
const MOST_HEADER_BYTES = 1024
const STALE_MS = 24 * 60 * 60 * 1000

/** Blobs as files below one folder, for a single machine. Several processes may share it.
 *
 *  A file begins with one line of JSON that holds the content type, so that type and content change together with one
 *  rename. `~`, which no key holds, keeps files apart from folders of the same name and from what is still arriving. */
export function folderBlobs(folder: string): Blobs {
  const incoming = join(folder, '~incoming')
  const pathOf = (key: string) => {
    checkKey(key)
    return `${join(folder, ...key.split('/'))}~blob`
  }
  let prepared: Promise<void> | undefined
  const prepare = async () => {
    await mkdir(incoming, { recursive: true, mode: 0o700 })
    await removeStale(incoming)
  }

  return {
    async put(key, body, contentType) {
      const path = pathOf(key)
      const header = Buffer.from(`${JSON.stringify({ contentType })}\n`)
      if (header.byteLength > MOST_HEADER_BYTES) throw new TypeError('the content type is too long')
      prepared ??= prepare().catch((error) => {
        prepared = undefined
        throw error
      })
      await prepared
      const temporary = join(incoming, randomUUID())
      let size = 0
      try {
        const file = await open(temporary, 'wx', 0o600)
        try {
          await file.writeFile(header)
          for await (const chunk of body instanceof Uint8Array ? [body] : body) {
            await file.writeFile(chunk)
            size += chunk.byteLength
          }
          await file.sync()
        } finally {
          await file.close()
        }
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        await rename(temporary, path)
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
      await syncFolder(dirname(path))
      return { size, contentType }
    },

    async get(key, range) {
      const file = await open(pathOf(key), 'r').catch(absent)
      if (!file) return undefined
      try {
        const header = await readHeader(file)
        const size = (await file.stat()).size - header.length
        const from = header.length + (range?.from ?? 0)
        const body = streamOf(file, from, range ? from + range.length : Number.POSITIVE_INFINITY)
        return { body, size, contentType: header.contentType }
      } catch (error) {
        await file.close()
        throw error
      }
    },

    async remove(key) {
      await rm(pathOf(key), { force: true })
    },
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

async function readHeader(file: FileHandle): Promise<{ length: number; contentType: string }> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_HEADER_BYTES), 0, MOST_HEADER_BYTES, 0)
  const end = buffer.subarray(0, bytesRead).indexOf('\n')
  const header: unknown = end === -1 ? undefined : JSON.parse(buffer.toString('utf8', 0, end))
  if (typeof header !== 'object' || header === null || !('contentType' in header)) {
    throw new TypeError('a file of the blob folder was not written by the gateway')
  }
  return { length: end + 1, contentType: String(header.contentType) }
}

/** Reads on demand; the file closes at its end, on cancel and on failure. */
function streamOf(file: FileHandle, from: number, until: number): ReadableStream<Uint8Array> {
  let position = from
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const wanted = Math.min(CHUNK_BYTES, until - position)
          const { buffer, bytesRead } = await file.read(new Uint8Array(wanted), 0, wanted, position)
          position += bytesRead
          if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead))
        } catch (error) {
          await file.close()
          throw error
        }
        await file.close()
        controller.close()
      },
      cancel: () => file.close(),
    },
    // Nothing is read before the consumer reads.
    { highWaterMark: 0 },
  )
}

/** Makes a rename survive a power cut. Windows cannot open folders, and does not need it. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}

/** Removes files that a killed process left incomplete. */
async function removeStale(incoming: string): Promise<void> {
  for (const name of await readdir(incoming)) {
    const path = join(incoming, name)
    const info = await stat(path).catch(absent)
    if (info && Date.now() - info.mtimeMs > STALE_MS) await rm(path, { force: true })
  }
}
