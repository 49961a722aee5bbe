import { ConfigError } from '../config/config-error.ts'
import { describeError } from '../lib/log.ts'

/** Why the gateway does not start, in the words of whoever has to mend it. */
export function refusal(error: unknown, configPath: string): string {
  if (error instanceof ConfigError) {
    const lines = error.mistakes.map(({ path, message }) => `  ${path === '' ? configPath : path}: ${message}`)
    return `The gateway cannot start: ${configPath} has ${lines.length === 1 ? 'a mistake' : 'mistakes'}.\n${lines.join('\n')}\n`
  }
  const { code } = error as { code?: unknown }
  if (code === 'EADDRINUSE') return 'The gateway cannot start: its port is in use. Set PORT to another one.\n'
  return `The gateway cannot start: ${error instanceof Error ? error.message : describeError(error)}\n`
}
