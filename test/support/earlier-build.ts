import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { madeOnce } from './made-once.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

function git(...words: string[]): string | undefined {
  try {
    return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

/** The last commit whose schema is another one than today's; undefined where the history is not here. */
function lastOfFormerSchema(): string | undefined {
  const isChanging = git('show', 'HEAD:schema.sql') !== readFileSync(join(root, 'schema.sql'), 'utf8').trim()
  const changed = isChanging ? 'HEAD' : `${git('log', '-1', '--format=%H', '--', 'schema.sql')}^`
  return git('rev-parse', '--verify', '--quiet', `${changed}^{commit}`)
}

const commit = lastOfFormerSchema()

/** Whether the repository holds the commits from which the earlier build is made: a shallow clone does not. */
export const earlierBuildExists = commit !== undefined

/** The gateway of the last build that had another schema, as its sources run. */
export async function earlierBuild(): Promise<{ readonly program: string; readonly compiled: string }> {
  const folder = await madeOnce('earlier-gateway', async (shared) => {
    const tree = join(shared, 'tree')
    await mkdir(tree)
    const archive = join(shared, 'tree.tar')
    await promisify(execFile)('git', ['archive', '--output', archive, String(commit)], { cwd: root })
    await promisify(execFile)('tar', ['-xf', archive, '-C', tree])
    await symlink(join(root, 'node_modules'), join(tree, 'node_modules'))
  })
  return { program: join(folder, 'tree/src/node.ts'), compiled: join(folder, 'compiled') }
}
