import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatInit } from '../../support/gateway.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const home = join(tmpdir(), `gateway-build-${process.pid}`)
const program = join(home, 'dist/model-gateway.mjs')

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

function run(args: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd, env: { PATH: process.env.PATH ?? '', ...env } }
    execFile(process.execPath, [program, ...args], options, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    )
  })
}

describe('the build', () => {
  let folder: string
  const started: ChildProcess[] = []
  beforeAll(async () => {
    await mkdir(home, { recursive: true })
    await copyFile(join(root, 'package.json'), join(home, 'package.json'))
    // What its package brings along, and nothing else.
    const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    for (const name of Object.keys(dependencies)) {
      const place = join(home, 'node_modules', name)
      await mkdir(dirname(place), { recursive: true })
      await symlink(join(root, 'node_modules', name), place)
    }
    const building = spawn(process.execPath, ['src/runtimes/local/build.node.ts', join(home, 'dist')], { cwd: root })
    expect(await once(building, 'exit')).toEqual([0, null])
    folder = await mkdtemp(join(tmpdir(), 'gateway-build-'))
  })
  afterAll(async () => {
    for (const child of started) {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
    await rm(home, { recursive: true, force: true })
    await rm(folder, { recursive: true, force: true })
  })

  it('says its version and its commands, and that it knows no other', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    expect(await run(['--version'], folder)).toEqual({ code: 0, out: `${version}\n`, err: '' })
    const help = await run(['--help'], folder)
    expect(help).toMatchObject({ code: 0, err: '' })
    for (const command of ['init', 'check', 'GATEWAY_CONFIG']) expect(help.out).toContain(command)
    const unknown = await run(['serve'], folder)
    expect(unknown).toMatchObject({ code: 2, out: '' })
    expect(unknown.err).toContain('There is no command serve.')
  })

  it.for(['init', 'check', 'doctor', 'keys', 'accounts', 'export', 'import', 'copy-database', 'salt-key', 'smoke'])(
    'tells how %s is called, and does nothing then',
    async (command) => {
      const cwd = await mkdtemp(join(folder, 'help-'))
      for (const operands of [
        [command, '--help'],
        [command, 'x', '-h'],
      ]) {
        const told = await run(operands, cwd)
        expect(told, operands.join(' ')).toMatchObject({ code: 0, err: '' })
        expect(told.out).toMatch(`Usage: model-gateway ${command}`)
      }
      expect(await readdir(cwd)).toEqual([])
    },
  )

  it('starts in an empty folder, and answers', { timeout: 60_000 }, async () => {
    const env = { PATH: process.env.PATH ?? '', PORT: '0' }
    // Each try has its own.
    const cwd = await mkdtemp(join(folder, 'empty-'))
    const child = spawn(process.execPath, [program], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
    started.push(child)
    let greeting = ''
    child.stdout.on('data', (piece) => {
      greeting += piece
    })
    await expect.poll(() => greeting, { timeout: 50_000 }).toMatch(/^key .*\n/m)
    expect(greeting).toMatch(/^config +a sample with one model, echo/m)
    const [, base] = /^gateway +(http:\S+)\/v1/m.exec(greeting) ?? []
    const [, key] = /^key +(sk-\S+)/m.exec(greeting) ?? []
    const authorization = `Bearer ${key}`
    const body = { model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }
    const response = await fetch(`${base}/v1/chat/completions`, chatInit(body, { headers: { authorization } }))
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Hello' } }] })
    expect((await fetch(`${base}/favicon.svg`)).headers.get('content-type')).toBe('image/svg+xml')
    await expect.poll(async () => (await fetch(`${base}/health/readiness`)).status).toBe(200)

    // Whoever read its lines is gone: calls go on.
    child.stdout.destroy()
    for (let call = 0; call < 5; call++) {
      const later = await fetch(`${base}/v1/chat/completions`, chatInit(body, { headers: { authorization } }))
      expect([later.status, child.exitCode]).toEqual([200, null])
      await later.arrayBuffer()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })

  it('writes a configuration that it takes, once', async () => {
    expect(await run(['init'], folder)).toMatchObject({ code: 0, err: '' })
    expect(await run(['check'], folder)).toMatchObject({ code: 0, out: 'ok: 1 model, 1 deployment\n' })
    const again = await run(['init'], folder)
    expect(again).toMatchObject({ code: 2, out: '' })
    expect(again.err).toContain('is there already')
    await writeFile(join(folder, 'wrong.yaml'), 'model_list: 5\n')
    expect(await run(['check', 'wrong.yaml'], folder)).toMatchObject({ code: 1, out: '' })
  })

  it('does not take a file that was named and is not there for one that was not', async () => {
    const ended = await run([], folder, { GATEWAY_CONFIG: 'nowhere.yaml' })
    expect(ended).toMatchObject({ code: 1 })
    expect(ended.err).toContain('There is no configuration file at nowhere.yaml')
  })

  it('tells where in the source a fault is', async () => {
    const map = JSON.parse(await readFile(`${program}.map`, 'utf8'))
    expect(map.sources.some((source: string) => source.endsWith('src/node.ts'))).toBe(true)
  })
})
