import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { variable } from '../../../config/env-references.ts'

/** What wrangler.toml names and does not make. */
export interface Wanted {
  readonly worker: string
  readonly accountId: string | undefined
  readonly buckets: readonly string[]
  /** A bucket is bound for the sink s3. */
  readonly bindsLogs: boolean
  readonly queues: readonly WantedQueue[]
  readonly cronTriggers: number
  /** The variables that it sets itself. Cloudflare refuses secrets of the same names. */
  readonly variables: Readonly<Record<string, string>>
}

export interface WantedQueue {
  readonly name: string
  /** It is retried for days, so that it must keep its messages as long. */
  readonly isPatient: boolean
}

/** What of wrangler's own reading is used here. */
interface ReadConfig {
  readonly name?: string
  readonly account_id?: string
  readonly queues: {
    readonly producers?: readonly { readonly queue: string }[]
    readonly consumers?: readonly {
      readonly queue: string
      readonly dead_letter_queue?: string
      readonly max_retries?: number
    }[]
  }
  readonly r2_buckets: readonly { readonly binding: string; readonly bucket_name?: string }[]
  readonly triggers: { readonly crons?: readonly string[] }
  readonly vars: Readonly<Record<string, unknown>>
}

/** Consumers with more retries than this wait for a database that is away. */
const FEW_RETRIES = 10

/** Reads wrangler.toml as wrangler does. */
export async function wantedOf(environment: string | undefined): Promise<Wanted> {
  const { unstable_readConfig: readConfig } = await import('wrangler')
  const config: ReadConfig = readConfig({
    config: 'wrangler.toml',
    ...(environment === undefined ? {} : { env: environment }),
  })
  const { producers = [], consumers = [] } = config.queues
  const names = [
    ...producers.map(({ queue }) => queue),
    ...consumers.flatMap(({ queue, dead_letter_queue: dead }) => (dead === undefined ? [queue] : [queue, dead])),
  ]
  const { vars } = config
  const retriesOf = (name: string) => consumers.find(({ queue }) => queue === name)?.max_retries ?? 0
  return {
    worker: String(config.name),
    accountId: config.account_id,
    buckets: config.r2_buckets.flatMap(({ bucket_name: name }) => (name === undefined ? [] : [name])),
    bindsLogs: config.r2_buckets.some(({ binding }) => binding === 'LOGS'),
    queues: [...new Set(names)].map((name) => ({ name, isPatient: retriesOf(name) > FEW_RETRIES })),
    cronTriggers: config.triggers.crons?.length ?? 0,
    variables: Object.fromEntries(
      Object.keys(vars).flatMap((name) => {
        const text = variable(vars, name)
        return text === undefined ? [] : [[name, text]]
      }),
    ),
  }
}

/** The settings of the configuration file that a Worker cannot do without, and the variables that set them where the file
 *  does not. */
const NEEDED = {
  database_url: 'DATABASE_URL',
  master_key: 'GATEWAY_MASTER_KEY',
  salt_key: 'GATEWAY_SALT_KEY',
} as const

/** Taken along where they are set: a Redis in the place of the Durable Object, Neon's protocol at another address, and the
 *  keys that are replaced. */
const OPTIONAL = [
  'REDIS_URL',
  'REDIS_TOKEN',
  'DATABASE_HTTP_URL',
  'GATEWAY_MASTER_KEY_PREVIOUS',
  'GATEWAY_SALT_KEY_NEXT',
  'GATEWAY_SALT_KEY_PREVIOUS',
]

/** The variables that a Worker with this configuration file needs, but for those that are `set` already. */
export function neededVariables(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  set: Wanted['variables'] = {},
): string[] {
  const tree = (parse(readFileSync(file, 'utf8')) ?? {}) as { general_settings?: Record<string, unknown> }
  const named = Object.entries(NEEDED).filter(([setting]) => tree.general_settings?.[setting] === undefined)
  const all = [...named.map(([, name]) => name), ...referencesIn(tree), ...OPTIONAL.filter((name) => env[name])]
  return [...new Set(all)].filter((name) => !Object.hasOwn(set, name))
}

function referencesIn(value: unknown): string[] {
  if (typeof value === 'string') return /^os\.environ\/([A-Za-z_]\w*)$/.exec(value)?.slice(1) ?? []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(referencesIn) : []
}
