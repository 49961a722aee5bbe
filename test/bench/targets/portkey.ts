import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answering, freePort, LOAD_CORE, run, SERVER_CORE, start } from '../processes.ts'
import type { Target } from './target.ts'

const PACKAGE = '@portkey-ai/gateway'
const VERSION = '1.15.2'
/** The versions that its own lock file names. */
const overrides = { hono: '4.9.7', '@hono/node-server': '1.13.5' }

/** The peer: the most used gateway that runs on Node. It routes and translates, without keys, limits or spend. */
export const portkey: Target = {
  name: 'portkey',
  async start({ upstreamUrl, folder, peerNode }) {
    const program = await installed()
    const port = await freePort()
    const log = join(folder, 'portkey.log')
    const preload = join(folder, 'loopback.mjs')
    await writeFile(preload, LOOPBACK)
    const args = ['--import', preload, program, '--headless', `--port=${port}`]
    const child = start(peerNode, args, { core: SERVER_CORE, log, env: { NODE_ENV: 'production' } })
    await answering(`http://127.0.0.1:${port}/`, child, log)
    const headers = {
      authorization: 'Bearer sk-bench',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': upstreamUrl,
    }
    return { url: `http://127.0.0.1:${port}/v1`, headers, pids: [child.pid] }
  },
}

/** It listens on every address of the machine and offers no setting against that. */
const LOOPBACK = `
import { Server } from 'node:net'
const listen = Server.prototype.listen
Server.prototype.listen = function (port, host, ...rest) {
  return typeof port === 'number' && host === undefined ? listen.call(this, port, '127.0.0.1', ...rest) : listen.call(this, port, host, ...rest)
}`

/** Installed once into a folder of its own, outside the project's dependencies. */
async function installed(): Promise<string> {
  const folder = join(tmpdir(), `model-gateway-bench-portkey-${VERSION}`)
  const program = join(folder, 'node_modules', PACKAGE, 'build', 'start-server.js')
  if (existsSync(program)) return program
  await mkdir(folder, { recursive: true })
  const manifest = { private: true, dependencies: { [PACKAGE]: VERSION }, overrides }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  const args = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', args, LOAD_CORE, 120_000)
  return program
}
