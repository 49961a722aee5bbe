import { join } from 'node:path'
import type { Config } from '../../../config/schema.ts'

/** The lines printed at the start: addresses, stores and models. A generated master key is shown once, at the start
 *  that made it. */
export function greeting(started: {
  readonly host: string
  readonly port: number
  readonly config: Config
  readonly newMasterKey: string | undefined
  /** Makes the first account. */
  readonly setupToken?: string | undefined
  readonly isSample: boolean
  readonly dataFolder: string
  readonly processes?: number
}): string {
  const { processes = 1, host, port, config, newMasterKey, setupToken, isSample, dataFolder } = started
  const shown = host === '127.0.0.1' || host === '0.0.0.0' || host === '::' ? 'localhost' : host
  const base = `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`
  const { database_url, redis_url } = config.general_settings
  const models = new Set(config.model_list.map(({ model_name }) => model_name)).size
  const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`
  const lines = [
    `gateway   ${base}/v1   (${counted(models, 'model')}, ${counted(config.model_list.length, 'deployment')})`,
    `console   ${base}/console`,
    `docs      ${base}/docs`,
    `metrics   ${base}/metrics`,
    `stores    ${database_url ? 'PostgreSQL' : 'embedded PostgreSQL'}, ${redis_url ? 'Redis' : 'store inside the process'}`,
  ]
  if (isSample) lines.push('config    a sample with one model, echo: `model-gateway init` writes it into this folder')
  if (processes > 1) lines.push(`processes ${processes}`)
  if (newMasterKey) {
    lines.push(`key       ${newMasterKey}   (the master key, made now and kept in ${join(dataFolder, 'keys.json')})`)
  }
  if (setupToken) {
    lines.push(`welcome   ${base}/console/welcome#${setupToken}   (creates the first account; good for an hour)`)
  }
  return `${lines.join('\n')}\n`
}
