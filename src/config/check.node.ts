import { readFileSync } from 'node:fs'
import { describeError } from '../lib/log.ts'
import { ConfigError, pathText } from './config-error.ts'
import { groupReferences } from './group-names.ts'
import { loadConfig } from './load.ts'

// npm run config:check [file]: says what the file holds, or what to change in it.
const file = process.argv[2] ?? process.env.GATEWAY_CONFIG ?? 'gateway.yaml'
try {
  const config = loadConfig(readFileSync(file, 'utf8'), process.env)
  const { model_list: deployments, router_settings: router } = config
  const models = new Set(deployments.map(({ model_name }) => model_name))
  process.stdout.write(`ok: ${counted(models.size, 'model')}, ${counted(deployments.length, 'deployment')}\n`)
  for (const { path, name } of groupReferences(config)) {
    if (models.has(name) || Object.hasOwn(router.model_group_alias, name)) continue
    process.stdout.write(`note: ${pathText(path)}: names '${name}', which only the database can hold\n`)
  }
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : describeError(error)}\n`)
  process.exitCode = 1
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
