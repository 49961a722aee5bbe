import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { folderBlobs } from '../../src/stores/blobs/folder.node.ts'
import { blobContract } from './blobs.ts'

describe('a folder', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-blobs-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  blobContract(() => folderBlobs(folder))

  it('leaves nothing behind of what failed', async () => {
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('gone')) })
    await expect(folderBlobs(folder).put('x', body, 'text/plain')).rejects.toThrow('gone')
    expect(await readdir(join(folder, '~incoming'))).toEqual([])
  })

  it('clears away what a killed process left half-written, and nothing younger than a day', async () => {
    const incoming = join(folder, '~incoming')
    await writeFile(join(incoming, 'old'), 'x')
    await utimes(join(incoming, 'old'), 0, 0)
    await writeFile(join(incoming, 'young'), 'x')
    await folderBlobs(folder).put('y', new Uint8Array(1), 'text/plain')
    expect(await readdir(incoming)).toEqual(['young'])
    await rm(join(incoming, 'young'))
  })

  it('gives a reader the object it opened, even when it is replaced meanwhile', async () => {
    const blobs = folderBlobs(folder)
    await blobs.put('z', new TextEncoder().encode('old'), 'text/old')
    const opened = await blobs.get('z')
    await blobs.put('z', new TextEncoder().encode('newer'), 'text/new')
    expect(await new Response(opened?.body ?? null).text()).toBe('old')
    expect(await new Response((await blobs.get('z'))?.body ?? null).text()).toBe('newer')
  })

  it('keeps the old object when the process is killed in the middle of a put', async () => {
    const blobs = folderBlobs(folder)
    await blobs.put('killed', new TextEncoder().encode('old'), 'text/plain')
    const script = `
      import { folderBlobs } from '${new URL('../../src/stores/blobs/folder.node.ts', import.meta.url).href}'
      let pulls = 0
      await folderBlobs(process.argv[1]).put('killed', new ReadableStream({
        pull(controller) {
          if (++pulls > 50) process.kill(process.pid, 'SIGKILL')
          controller.enqueue(new Uint8Array(100_000))
        },
      }), 'text/new')`
    const child = promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', script, folder])
    await expect(child).rejects.toMatchObject({ signal: 'SIGKILL' })
    expect(await new Response((await blobs.get('killed'))?.body ?? null).text()).toBe('old')
    expect(await readdir(join(folder, '~incoming'))).toHaveLength(1)
  })
})
