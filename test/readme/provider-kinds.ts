import { PROVIDER_KINDS } from '../../src/config/provider-kinds.ts'
import { providers } from '../../src/providers/index.ts'

/** Every provider of this build, and those that the configuration knows by name only. */
export function providerKinds(): string {
  const list = (kinds: readonly string[]) => kinds.map((kind) => `\`${kind}\``).join(', ')
  const missing = PROVIDER_KINDS.filter((kind) => !providers.has(kind))
  const present = `${list([...providers.keys()])}.`
  return missing.length === 0 ? present : `${present} Not built yet, and refused at the start: ${list(missing)}.`
}
