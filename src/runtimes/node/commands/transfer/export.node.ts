import type { Environment } from '../admin-api.ts'
import { optionsOf, outcomeOf, print, UsageError, WHERE, withAdminApi } from '../options.node.ts'
import { textOf } from './document.ts'
import { sectionsIn } from './kinds.ts'

export const EXPORT_USAGE = `Usage: model-gateway export [--url ADDRESS] > config.yaml

  --url ADDRESS      asks a running gateway, with the key in GATEWAY_KEY
`

/** `model-gateway export`: the records of the database as a file, without any secret. */
export function exportCommand(operands: readonly string[], env: Environment): Promise<number> {
  return outcomeOf(EXPORT_USAGE, async () => {
    const { values, positionals } = optionsOf(operands, WHERE)
    if (positionals.length > 0) throw new UsageError('export takes no file: it prints')
    print(textOf(await withAdminApi(env, values.url, sectionsIn)))
    return 0
  })
}
