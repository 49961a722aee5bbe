import { readFileSync } from 'node:fs'
import { describeError } from '../lib/log.ts'
import { ConfigError } from './config-error.ts'
import { loadConfig } from './load.ts'

// npm run config:check [file]: says what the file holds, or what to change in it.
const file = process.argv[2] ?? process.env.GATEWAY_CONFIG ?? 'gateway.yaml'
try {
  const { model_list: deployments } = loadConfig(readFileSync(file, 'utf8'), process.env)
  const models = new Set(deployments.map(({ model_name }) => model_name)).size
  process.stdout.write(`ok: ${counted(models, 'model')}, ${counted(deployments.length, 'deployment')}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : describeError(error)}\n`)
  process.exitCode = 1
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
