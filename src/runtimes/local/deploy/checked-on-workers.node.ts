import { ConfigError } from '../../../config/config-error.ts'
import type { Config } from '../../../config/schema.ts'
import { describeError } from '../../../lib/log.ts'
import { checkedConfig } from '../../../routing/checked-config.ts'
import { mistakesOnWorkers } from './on-workers.ts'
import { Refusal } from './refusal.ts'
import type { Wanted } from './wanted.node.ts'

/** What stands for a variable whose value is at Cloudflare alone, or not known yet. */
const STAND_INS: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://gateway@database.invalid/gateway',
  GATEWAY_MASTER_KEY: 'sk-stands-for-a-key-that-is-not-here-7d1f',
  GATEWAY_SALT_KEY: 'stands-for-a-key-that-is-not-here-7d1f',
}
/** For any other variable: the first of these that its setting takes. */
const OF_EACH_KIND = ['stands-for-what-is-not-here', 'https://stands-for-what-is-not-here.invalid', '1', 'true']

interface Known {
  /** The variables that the Worker needs. */
  readonly needed: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly wanted: Pick<Wanted, 'bindsLogs' | 'variables'>
}

/** Reads the configuration as the Worker will. Throws a Refusal with all mistakes. `untaken`: how many stand-ins of a
 *  variable were no value for its setting. */
export function checkedOnWorkers(yaml: string, known: Known, untaken: ReadonlyMap<string, number> = new Map()): Config {
  const { needed, env, wanted } = known
  const standIn = (name: string) => STAND_INS[name] ?? OF_EACH_KIND[untaken.get(name) ?? 0]
  const given = needed.map((name) => [name, env[name] || standIn(name)])
  try {
    const config = checkedConfig(yaml, { ...Object.fromEntries(given), ...wanted.variables })
    const mistakes = mistakesOnWorkers(config, wanted.bindsLogs)
    if (mistakes.length > 0) throw new ConfigError(mistakes)
    return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw new Refusal(describeError(error))
    const wrong = new Set(error.mistakes.map(({ variable }) => variable))
    const stoodFor = needed.filter((name) => wrong.has(name) && !env[name])
    if (stoodFor.length === 0) throw new Refusal(error.message)
    const next = new Map(untaken)
    for (const name of stoodFor) next.set(name, (untaken.get(name) ?? 0) + 1)
    if (stoodFor.some((name) => next.get(name) === OF_EACH_KIND.length)) {
      throw new Refusal(`${error.message}\nSet ${stoodFor.join(', ')} to what the Worker has.`)
    }
    return checkedOnWorkers(yaml, known, next)
  }
}
