import { lookup } from 'node:dns/promises'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../../../../config/config-error.ts'
import { linesOf } from '../../../../config/places.ts'
import type { Config } from '../../../../config/schema.ts'
import { providers } from '../../../../providers/index.ts'
import { checkedConfig } from '../../../../routing/checked-config.ts'
import { missingCredentials } from '../../../../routing/missing-credentials.ts'
import { deploymentOf } from '../../../../routing/registry.ts'
import { missingS3Key } from '../../../../telemetry/sinks/configured-s3.ts'
import { configTextOf, nodeConfig } from '../../setup/config.node.ts'
import { nodeSettings } from '../../setup/settings.node.ts'
import { requireSharedStores } from '../../setup/shareable.node.ts'
import type { Environment } from '../admin-api.ts'
import { optionsOf, outcomeOf, print, UsageError } from '../options.node.ts'
import { database } from './database.node.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { machine } from './machine.node.ts'
import { redis } from './redis.node.ts'

export const DOCTOR_USAGE = `Usage: model-gateway doctor [--json]

  Checks the configuration, the stores and the machine without a key and without a paid call, and changes nothing.
  Exit code 1: the gateway would not start, or not as it should.
`

/** `model-gateway doctor`. */
export function doctorCommand(operands: readonly string[], env: Environment): Promise<number> {
  return outcomeOf(DOCTOR_USAGE, async () => {
    const { values, positionals } = optionsOf(operands, { json: { type: 'boolean' } })
    if (positionals.length > 0) throw new UsageError('doctor takes no operands')
    const findings = await findingsOf(env)
    print(values.json ? `${JSON.stringify(findings, null, 2)}\n` : findings.map(lineOf).join(''))
    return findings.some(({ state }) => state === 'fail') ? 1 : 0
  })
}

const lineOf = ({ check, state, says }: Finding) => `${state.padEnd(4)}  ${check.padEnd(14)}  ${says}\n`

/** Checks the installation that these variables name. */
export async function findingsOf(env: Environment): Promise<Finding[]> {
  const settings = nodeSettings(env)
  const read = configuration(settings.configPath, settings.dataFolder, env)
  if (!('config' in read)) return [...read.findings, ...(await machine(settings, !env.DATABASE_URL))]
  const { config } = read
  const embedded = !config.general_settings.database_url
  return [
    ...read.findings,
    ...missingCredentials(config, providers).map(({ path, message }) => warn('configuration', `${path} ${message}`)),
    ...missingS3Key(config).map(({ path, message }) => fail('configuration', `${path} ${message}`)),
    ...sharing(config, settings.processes),
    ...(await machine(settings, embedded)),
    ...(await database(config, settings.dataFolder)),
    ...(await redis(config)),
    ...(await hosts(config)),
  ]
}

/** The configuration as a start would read it. Keys that a first start makes are not made. */
function configuration(
  path: string,
  dataFolder: string,
  env: Environment,
): { readonly findings: Finding[]; readonly config?: Config } {
  try {
    const hasKeys = existsSync(join(dataFolder, 'keys.json'))
    const config = hasKeys ? nodeConfig(path, dataFolder, env).config : plainConfig(path, env)
    const { master_key: master, salt_key: salt } = config.general_settings
    const made = hasKeys ? 'made by the first start, in keys.json of the data folder' : 'the first start makes one'
    const isSet = (name: 'GATEWAY_MASTER_KEY' | 'GATEWAY_SALT_KEY') => Boolean(env[name])
    return {
      config,
      findings: [
        ok('configuration', existsSync(path) ? path : 'none: the sample is used'),
        ok('master key', master && (isSet('GATEWAY_MASTER_KEY') || !hasKeys) ? 'set, and not easy to guess' : made),
        ...(salt ? [] : [warn('salt key', 'none is set: the first start makes one. Keep a copy of it')]),
      ],
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) return { findings: [fail('configuration', (error as Error).message)] }
    return { findings: linesOf(error.mistakes, configTextOf(path)).map((line) => fail('configuration', line)) }
  }
}

function plainConfig(path: string, env: Environment): Config {
  if (!existsSync(path) && env.GATEWAY_CONFIG)
    throw new Error(`There is no file ${path}: set GATEWAY_CONFIG to where it is`)
  return checkedConfig(existsSync(path) ? readFileSync(path, 'utf8') : 'model_list: []\n', env)
}

function sharing(config: Config, processes: number): Finding[] {
  if (processes === 1) return []
  try {
    requireSharedStores(config, processes)
    return [ok('processes', `${processes}, over one database and one Redis`)]
  } catch (error) {
    return [fail('processes', (error as Error).message)]
  }
}

const LOOKUP_MS = 5000

/** Whether the names of providers' hosts are known here, of the deployments of the file. */
async function hosts(config: Config): Promise<Finding[]> {
  const names = new Set<string>()
  for (const entry of config.model_list) {
    try {
      const { hostname } = new URL(deploymentOf(entry, providers).connection.origin)
      if (hostname !== '' && entry.gateway_params.provider !== 'echo') names.add(hostname.replace(/^\[|\]$/g, ''))
    } catch {
      // One that waits for a credential of the database has no address yet.
    }
  }
  return Promise.all([...names].sort().map(resolved))
}

async function resolved(host: string): Promise<Finding> {
  const late = new Promise<never>((_, reject) => setTimeout(() => reject({ code: 'no answer' }), LOOKUP_MS).unref())
  try {
    await Promise.race([lookup(host), late])
    return ok('provider', host)
  } catch (error) {
    const why = (error as { readonly code?: string }).code
    return warn('provider', `${host} has no address here (${why}): see the DNS of this machine, or api_base`)
  }
}
