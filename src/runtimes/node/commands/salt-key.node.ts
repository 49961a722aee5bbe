import { successorOf } from '../../../lib/sealing/salt-key.ts'
import { reveal } from '../../../lib/secret.ts'
import { nodeConfig } from '../setup/config.node.ts'
import { nodeSettings } from '../setup/settings.node.ts'
import type { Environment } from './admin-api.ts'
import { optionsOf, outcomeOf, print, UsageError } from './options.node.ts'

export const SALT_KEY_USAGE = `Usage: model-gateway salt-key

  prints a successor of the present salt key. It encrypts with new random bits and hashes as the present one does, so
  that keys, sessions and links stay valid. It changes nothing; each run prints a different one
`

/** `model-gateway salt-key`. */
export function saltKeyCommand(operands: readonly string[], env: Environment): Promise<number> {
  return outcomeOf(SALT_KEY_USAGE, async () => {
    const { positionals } = optionsOf(operands, {})
    if (positionals.length > 0) throw new UsageError(`There is no command salt-key ${positionals.join(' ')}`)
    const { configPath, dataFolder } = nodeSettings(env)
    const { salt_key: saltKey } = nodeConfig(configPath, dataFolder, env).config.general_settings
    if (!saltKey) throw new Error('The configuration has no salt key. Set GATEWAY_SALT_KEY.')
    print(`${successorOf(reveal(saltKey))}\n`)
    return 0
  })
}
