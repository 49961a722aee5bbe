import { optionsOf, UsageError } from '../../node/commands/options.node.ts'
import { checks } from './checks/index.node.ts'
import { type Report, type Row, runSmoke, SmokeRefusal } from './run.node.ts'

export const SMOKE_USAGE = `Usage: model-gateway smoke URL [--key sk-…] [--model NAME] [--json] [--only NAME,…] [--patience N]

Tests a running gateway from outside. It makes some twenty calls of a model, which cost a few hundred tokens, and with
a key that may administer also temporary keys, which it deletes. With another key it says what it did not check.

  --key       also GATEWAY_KEY, which other users of the machine cannot read
  --model     the model that is called; by default the first of /v1/models
  --json      a report for programs
  --only      some of the checks: ${checks.map(({ name }) => name).join(', ')}
  --patience  multiplies all time limits; 1 by default

Exit status: 0 nothing failed, 1 something failed, 2 it could not begin.
`

type Environment = Readonly<Record<string, string | undefined>>

/** The command `smoke`. Returns the exit code. */
export async function smoke(operands: readonly string[], env: Environment): Promise<number> {
  let given: ReturnType<typeof read>
  try {
    given = read(operands, env)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${SMOKE_USAGE}`)
    return 2
  }
  const { json, ...options } = given
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  try {
    if (!json)
      process.stdout.write(
        `Smoke test of ${options.url}. It makes calls of a model, which cost a few hundred tokens.\n\n`,
      )
    const report = await runSmoke(
      { ...options, signal: stopping.signal },
      (row) => !json && process.stdout.write(lineOf(row)),
    )
    process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : summaryOf(report))
    if (stopping.signal.aborted) return 2
    return report.rows.some(({ result }) => result === 'failed') ? 1 : 0
  } catch (error) {
    if (!(error instanceof SmokeRefusal)) throw error
    process.stderr.write(`${error.message}\n`)
    return 2
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop)
  }
}

function read(operands: readonly string[], env: Environment) {
  const { values, positionals } = optionsOf(operands, {
    key: { type: 'string' },
    model: { type: 'string' },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    patience: { type: 'string', default: '1' },
  })
  const [url, ...more] = positionals
  if (url === undefined || more.length > 0) throw new UsageError('Name one address.')
  if (!/^https?:\/\/[^/]/.test(url)) throw new UsageError(`${url} is no address; it begins with https:// or http://.`)
  const key = values.key ?? env.GATEWAY_KEY
  if (!key) throw new UsageError('Give a key: --key, or GATEWAY_KEY.')
  const patience = Number(values.patience)
  if (!(patience > 0)) throw new UsageError('--patience is a number above 0.')
  return {
    url: url.replace(/\/v1\/?$/, ''),
    key,
    model: values.model,
    json: values.json,
    only: values.only?.split(','),
    patience,
  }
}

const NAME_WIDTH = Math.max(...checks.map(({ name }) => name.length))

function lineOf({ result, name, promise, detail }: Row): string {
  const head = `${result.padEnd('not checked'.length)}  ${name.padEnd(NAME_WIDTH)}  `
  return `${head}${promise}\n${' '.repeat(head.length)}${detail}\n`
}

function summaryOf({ rows, model, admin }: Report): string {
  const count = (wanted: Row['result']) => rows.filter(({ result }) => result === wanted).length
  const key = admin ? 'a key that may administer' : 'a key that may not administer'
  return `\n${count('passed')} passed, ${count('failed')} failed, ${count('not checked')} not checked; model ${model}, ${key}\n`
}

if (import.meta.main) process.exitCode = await smoke(process.argv.slice(2), process.env)
