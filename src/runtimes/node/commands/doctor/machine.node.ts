import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, resolve } from 'node:path'
import { unsupportedNode } from '../../process/version.node.ts'
import { memoryLimit, shortMemory } from '../../setup/memory.node.ts'
import type { NodeSettings } from '../../setup/settings.node.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const GIBIBYTE = 1024 ** 3
const LEAST_FREE = GIBIBYTE / 10
const GOOD_FREE = GIBIBYTE
const GOOD_FILES = 4096

/** Checks the resources of the machine or the container. */
export async function machine(settings: NodeSettings, embedded: boolean): Promise<Finding[]> {
  return [node(), memory(settings, embedded), ...folder(settings.dataFolder), files(), await port(settings)]
}

function node(): Finding {
  const unsupported = unsupportedNode(process.versions.node)
  return unsupported ? fail('node', unsupported.trim()) : ok('node', process.versions.node)
}

function memory({ processes }: NodeSettings, embedded: boolean): Finding {
  const limit = memoryLimit()
  const short = shortMemory(limit, { embedded, processes })
  return short ? warn('memory', short) : ok('memory', `${Math.floor(limit.bytes / 1024 ** 2)} MB of the ${limit.of}`)
}

function folder(path: string): Finding[] {
  const home = resolve(path)
  // The first start makes it.
  let there = home
  while (!existsSync(there)) there = dirname(there)
  return [rights(home, there), space(there)]
}

function rights(home: string, there: string): Finding {
  try {
    accessSync(there, constants.W_OK | constants.X_OK)
  } catch {
    return fail('data folder', `${home} cannot be written to by this user: set GATEWAY_DATA_DIR to one that can`)
  }
  if (there !== home) return ok('data folder', `${home} will be made by the first start`)
  const isPrivate = (statSync(home).mode & 0o077) === 0
  return isPrivate ? ok('data folder', home) : warn('data folder', `others may look into it: chmod 700 ${home}`)
}

function space(there: string): Finding {
  const { bavail, bsize } = statfsSync(there)
  const free = bavail * bsize
  const says = `${(free / GIBIBYTE).toFixed(1)} GB free`
  if (free >= GOOD_FREE) return ok('disk', says)
  return (free < LEAST_FREE ? fail : warn)('disk', `${says}: make room, or set GATEWAY_DATA_DIR to another disk`)
}

function files(): Finding {
  const told = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : ''
  const limit = /^Max open files\s+(\d+)/m.exec(told)?.[1]
  if (limit === undefined) return ok('open files', 'this system does not tell its limit')
  const says = `${limit} at once`
  if (Number(limit) >= GOOD_FILES) return ok('open files', says)
  return warn('open files', `${says}, and each call takes two: raise it (ulimit -n, LimitNOFILE=) to 65536`)
}

async function port({ host, port }: NodeSettings): Promise<Finding> {
  const at = `${host}:${port}`
  const server = createServer()
  const code = await new Promise<string | undefined>((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'))
    server.listen(port, host, () => resolve(undefined))
  })
  if (code === undefined) {
    await new Promise((resolve) => server.close(resolve))
    return ok('port', `${at} is free`)
  }
  if (code === 'EADDRINUSE') return warn('port', `${at} is in use: by the gateway, or set PORT to another one`)
  return fail('port', `${at} cannot be taken (${code}): set HOST and PORT to what this user may have`)
}
