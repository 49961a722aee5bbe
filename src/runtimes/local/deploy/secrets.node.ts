import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { type PlanLimits, variablesBeyondPlan } from './plan-limits.ts'
import { Refusal } from './refusal.ts'
import { jsonIn, reasonOf, succeeded, type Wrangler } from './wrangler.node.ts'

/** Asks for a secret at the terminal; undefined without one. */
export type Ask = ((name: string) => Promise<string>) | undefined

/** The names of the secrets that the Worker has. */
export async function presentSecrets(wrangler: Wrangler, target: readonly string[]): Promise<ReadonlySet<string>> {
  const ran = await wrangler.run(['secret', 'list', '--format', 'json', ...target])
  if (ran.code !== 0 && /Worker ".*" .*not found/.test(ran.output)) return new Set()
  if (ran.code !== 0) throw new Error(`The secrets cannot be listed: ${reasonOf(ran)}`)
  const list = jsonIn(ran.output)
  return new Set(Array.isArray(list) ? list.map(({ name }: { name: string }) => name) : [])
}

interface Given {
  readonly needed: readonly string[]
  readonly present: ReadonlySet<string>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Also those that the Worker has already, as far as they are in the environment. */
  readonly update: boolean
  readonly ask: Ask
  readonly plan: PlanLimits
}

/** The secrets to send: those that the Worker lacks, from the environment or from the terminal. */
export async function secretsToSend({
  needed,
  present,
  env,
  update,
  ask,
  plan,
}: Given): Promise<Record<string, string>> {
  const wanted = needed.filter((name) => !present.has(name) || (update && env[name]))
  const missing = wanted.filter((name) => !env[name])
  if (missing.length > 0 && !ask) {
    const keys = 'openssl rand -hex 32'
    throw new Refusal(
      `The Worker lacks ${missing.join(', ')}, and the environment has no such variables. Set them; \`${keys}\` makes a key.`,
    )
  }
  const secrets: Record<string, string> = {}
  for (const name of wanted) {
    const value = env[name] || (await ask?.(name))?.trim()
    if (!value) throw new Refusal(`Without ${name} the gateway does not start.`)
    secrets[name] = value
  }
  const wrong = [...unfit(secrets), ...variablesBeyondPlan(secrets, plan)]
  if (wrong.length > 0) throw new Refusal(wrong.join('\n'))
  return secrets
}

/** On Workers the stores are reached over HTTP. */
function unfit({ REDIS_URL: redis, DATABASE_URL: database }: Record<string, string>): string[] {
  return [
    ...(redis && !/^https?:\/\//.test(redis) ? ['REDIS_URL is not the REST address, which begins with https://.'] : []),
    ...(database && !/^postgres(ql)?:\/\/[^/@]+@[^/]+\/[^?]/.test(database)
      ? ['DATABASE_URL does not have the form postgres://user:password@host/database.']
      : []),
  ]
}

/** Sends secrets by standard input: they are in no file and in no command line. */
export async function sendSecrets(
  wrangler: Wrangler,
  secrets: Readonly<Record<string, string>>,
  target: readonly string[],
): Promise<void> {
  succeeded(await wrangler.run(['secret', 'bulk', ...target], JSON.stringify(secrets)), 'The secrets cannot be set')
}

/** Asks at the terminal, which does not show what is typed. */
export async function askAtTerminal(name: string): Promise<string> {
  process.stdout.write(`${name}: `)
  const silent = new Writable({ write: (_bytes, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true })
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stdout.write('\n')
  }
}
