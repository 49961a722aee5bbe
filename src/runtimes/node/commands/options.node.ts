import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { ConfigError } from '../../../config/config-error.ts'
import { describeError } from '../../../lib/log.ts'
import { type AdminApi, type Environment, Refused } from './admin-api.ts'

/** A command that was called wrongly: exit code 2, with its usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Options of every command that works on records. */
export const WHERE = { url: { type: 'string' } } as const satisfies ParseArgsOptionsConfig

/** Reads options and operands. Throws UsageError. */
export function optionsOf<const Options extends ParseArgsOptionsConfig>(operands: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...operands], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(misuse(error as NodeJS.ErrnoException))
  }
}

/** What parseArgs complains of, in a short sentence. */
function misuse({ code, message }: NodeJS.ErrnoException): string {
  const option = /--?[^ ',=]+(?=[ '=])/.exec(message)?.[0]
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `There is no option ${option}`
  return message.includes('does not take an argument') ? `${option} takes no value` : `${option} wants a value`
}

/** Does something with the admin API: of the running gateway at `url`, or else of this installation's stores. */
export async function withAdminApi<Result>(
  env: Environment,
  url: string | undefined,
  work: (api: AdminApi) => Promise<Result>,
): Promise<Result> {
  const api = await open(env, url)
  try {
    return await work(api)
  } finally {
    await api.close()
  }
}

async function open(env: Environment, url: string | undefined): Promise<AdminApi> {
  if (url === undefined) return (await import('./own-stores.node.ts')).ownStores(env)
  const key = env.GATEWAY_KEY || env.GATEWAY_MASTER_KEY
  if (!/^https?:\/\//.test(url)) throw new UsageError('--url wants an address such as http://localhost:8787')
  if (!key) throw new UsageError('--url needs the master key of that gateway in GATEWAY_KEY')
  return (await import('./running-gateway.ts')).runningGateway(url, key)
}

/** Runs a command, and says what went wrong. Returns the exit code. */
export async function outcomeOf(usage: string, run: () => Promise<number>): Promise<number> {
  try {
    return await run()
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${error instanceof UsageError ? `\n${usage}` : ''}`)
    return error instanceof UsageError ? 2 : 1
  }
}

function messageOf(error: unknown): string {
  if (error instanceof UsageError || error instanceof ConfigError || error instanceof Refused) return error.message
  // An unexpected error is shown with its stack.
  if (error instanceof TypeError || error instanceof ReferenceError) return String(error.stack)
  return error instanceof Error ? error.message : describeError(error)
}

export function print(text: string): void {
  process.stdout.write(text)
}
