import { readFileSync } from 'node:fs'
import { ConfigError, type Mistake, pathText } from '../../../config/config-error.ts'
import { groupReferences } from '../../../config/group-names.ts'
import { linesOf } from '../../../config/places.ts'
import type { Config } from '../../../config/schema.ts'
import { describeError } from '../../../lib/log.ts'
import { providers } from '../../../providers/index.ts'
import { checkedConfig } from '../../../routing/checked-config.ts'
import { missingCredentials } from '../../../routing/missing-credentials.ts'
import { missingS3Key } from '../../../telemetry/sinks/configured-s3.ts'

export const CHECK_USAGE = `Usage: model-gateway check [file]

  names each mistake of a configuration file with its line, and starts nothing. Without a file it checks that of
  GATEWAY_CONFIG, or else gateway.yaml of this folder. Exit code 1: the gateway would not start with it
`

/** Prints a summary of a configuration file, or its mistakes. Returns the exit code. */
export function checkConfig(file: string, env: Readonly<Record<string, string | undefined>>): number {
  let yaml: string
  try {
    yaml = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    process.stderr.write(code === 'ENOENT' ? absent(file) : `${file} cannot be read (${code}).\n`)
    return 1
  }
  try {
    const config = checkedConfig(yaml, env)
    const models = new Set(config.model_list.map(({ model_name }) => model_name))
    const counts = `${counted(models.size, 'model')}, ${counted(config.model_list.length, 'deployment')}`
    process.stdout.write(`ok: ${counts}\n`)
    for (const note of linesOf(notesOn(config, models), yaml)) process.stdout.write(`note: ${note}\n`)
    return 0
  } catch (error) {
    const lines = error instanceof ConfigError ? linesOf(error.mistakes, yaml) : [describeError(error)]
    process.stderr.write(`${lines.join('\n')}\n`)
    return 1
  }
}

const absent = (file: string) =>
  `There is no file ${file}. Name the one to check, or have one written: model-gateway init\n`

function notesOn(config: Config, models: ReadonlySet<string>): Mistake[] {
  const unknown = [...groupReferences(config)]
    .filter(({ name }) => !models.has(name) && !Object.hasOwn(config.router_settings.model_group_alias, name))
    .map(({ path, name }) => ({ path: pathText(path), message: `names '${name}', which only the database can hold` }))
  return [...unknown, ...missingCredentials(config, providers), ...missingS3Key(config)]
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
