import { providers } from '../../src/providers/index.ts'

/** Every provider of this build. */
export function providerKinds(): string {
  return [...providers.keys()].map((kind) => `\`${kind}\``).join(', ')
}
