import { execFileSync } from 'node:child_process'
import { scryptSync } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import type { ScryptInput } from '../../../../src/lib/crypto.ts'
import { threadHasher } from '../../../../src/runtimes/node/passwords/thread-hasher.node.ts'

const hasher = threadHasher(2)
afterAll(() => hasher.close())

const input: ScryptInput = {
  password: 'Grünes Pferd \0 🐎',
  salt: new Uint8Array(16).fill(7),
  cost: 16_384,
  blockSize: 8,
  parallelization: 1,
  keyBytes: 32,
}

it('threads derive what Node derives', async () => {
  const wanted = scryptSync(input.password, input.salt, 32, { N: 16_384, r: 8, p: 1 })
  const derived = await Promise.all([hasher.derive(input), hasher.derive(input)])
  for (const key of derived) expect(Buffer.from(key).equals(wanted)).toBe(true)
})

it.runIf(process.platform === 'linux')('threads come after everything else, the process itself does not', async () => {
  await hasher.derive(input)
  // The 19th field of a thread's state is its nice value; its name may hold spaces.
  const nice = readdirSync('/proc/self/task').map((thread) => {
    const state = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
    return [thread, Number(state.slice(state.lastIndexOf(')') + 2).split(' ')[16])] as const
  })
  expect(nice.filter(([, value]) => value === 10).length).toBeGreaterThanOrEqual(1)
  expect(new Map(nice).get(String(process.pid))).toBe(0)
})

it('a derivation that cannot be fails, and the next one does not', async () => {
  await expect(hasher.derive({ ...input, cost: 3 })).rejects.toThrow('scrypt')
  expect((await hasher.derive(input)).byteLength).toBe(32)
})

it('a thread that waits for work holds no process', () => {
  const module = new URL('../../../../src/runtimes/node/passwords/thread-hasher.node.ts', import.meta.url).href
  const script = `
    const { threadHasher } = await import('${module}')
    const key = await threadHasher(1).derive({ password: 'x', salt: new Uint8Array(8), cost: 2, blockSize: 1, parallelization: 1, keyBytes: 8 })
    process.stdout.write(String(key.byteLength))`
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 20_000 })
  expect(said.toString()).toBe('8')
})
