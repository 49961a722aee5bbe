import { ConfigError } from '../../../config/config-error.ts'
import { linesOf } from '../../../config/places.ts'
import { describeError } from '../../../lib/log.ts'
import { configTextOf } from '../setup/config.node.ts'

/** The message for the operator when the gateway cannot start. */
export function refusal(error: unknown, configPath: string): string {
  if (error instanceof ConfigError) {
    const lines = linesOf(error.mistakes, configTextOf(configPath)).map((line) => `  ${line}`)
    return `The gateway cannot start: ${configPath} has ${lines.length === 1 ? 'a mistake' : 'mistakes'}.\n${lines.join('\n')}\n`
  }
  return `The gateway cannot start: ${sentence(error)}\n`
}

function sentence(error: unknown): string {
  if (!(error instanceof Error)) return describeError(error)
  const { code, syscall, ...more } = error as NodeJS.ErrnoException & { address?: string; port?: number; path?: string }
  if (syscall === 'listen' || syscall === 'bind')
    return `port ${more.port ?? 0} of ${more.address} ${LISTENING[code ?? ''] ?? `failed (${code})`}.`
  if (syscall === 'getaddrinfo') return `HOST is not an address of this machine (${code}).`
  const onDisk = more.path !== undefined || syscall === 'write' ? ON_DISK[code ?? ''] : undefined
  if (onDisk) return `${more.path ?? 'a file'} ${onDisk}`
  // An unexpected error is shown with its stack.
  return error instanceof TypeError || error instanceof ReferenceError ? String(error.stack) : error.message
}

const ELSEWHERE = 'or set GATEWAY_DATA_DIR to another folder.'

const ON_DISK: Readonly<Record<string, string>> = {
  ENOSPC: `cannot be written: the disk has no room left. Make some, ${ELSEWHERE}`,
  EACCES: `may not be read or written by this user. Give it to the user that runs the gateway (chown), ${ELSEWHERE}`,
  EPERM: `belongs to another user. Give it to the user that runs the gateway (chown), ${ELSEWHERE}`,
  EROFS: `cannot be written: the disk is read-only. Mount it writable, ${ELSEWHERE}`,
}

const LISTENING: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use. Set PORT to another one',
  EACCES: 'may not be taken by this user. Set PORT to one above 1023',
  EADDRNOTAVAIL: 'cannot be taken, for HOST is not an address of this machine',
}
