import { readFileSync } from 'node:fs'
import { ConfigError, pathText } from '../../../config/config-error.ts'
import { groupReferences } from '../../../config/group-names.ts'
import { describeError } from '../../../lib/log.ts'
import { loadConfig } from '../../../routing/configuration.ts'

/** Prints a summary of a configuration file, or its mistakes. Returns the exit code. */
export function checkConfig(file: string, env: Readonly<Record<string, string | undefined>>): number {
  try {
    const config = loadConfig(readFileSync(file, 'utf8'), env)
    const { model_list: deployments, router_settings: router } = config
    const models = new Set(deployments.map(({ model_name }) => model_name))
    process.stdout.write(`ok: ${counted(models.size, 'model')}, ${counted(deployments.length, 'deployment')}\n`)
    for (const { path, name } of groupReferences(config)) {
      if (models.has(name) || Object.hasOwn(router.model_group_alias, name)) continue
      process.stdout.write(`note: ${pathText(path)}: names '${name}', which only the database can hold\n`)
    }
    return 0
  } catch (error) {
    process.stderr.write(`${error instanceof ConfigError ? error.message : describeError(error)}\n`)
    return 1
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
