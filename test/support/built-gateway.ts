import { execFile } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { madeOnce } from './made-once.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The gateway as it is installed, built once in a run of the tests: a process of it starts in half the time that one of
 *  the sources takes. */
export async function builtGateway(): Promise<{ readonly program: string; readonly compiled: string }> {
  const folder = await madeOnce('gateway', async (shared) => {
    // Where it finds the one package that is not in it.
    await symlink(join(root, 'node_modules'), join(shared, 'node_modules'))
    const build = ['src/runtimes/local/build.node.ts', join(shared, 'dist')]
    await promisify(execFile)(process.execPath, build, { cwd: root })
  })
  return { program: join(folder, 'dist/model-gateway.mjs'), compiled: join(folder, 'compiled') }
}
