import { PROVIDER_KINDS } from '../../src/config/provider-kinds.ts'
import { MODE_NAMES } from '../../src/modes/mode.ts'
import { providers } from '../../src/providers/index.ts'

const DIALECTS = ['messages', 'responses'] as const
/** Completions are chat's answers, put into other words. */
const MODES = MODE_NAMES.filter((mode) => mode !== 'completion')

/** Every provider of this build, with the kinds of request that it takes and the dialects of chat that it speaks itself,
 *  and those that the configuration knows by name only. */
export function providerKinds(): string {
  const rows = [...providers.values()].map(({ kind, adapters }) => {
    const native = DIALECTS.filter((dialect) => adapters[dialect]).map((dialect) => `\`${dialect}\``)
    return `| \`${kind}\` | ${MODES.map((mode) => (adapters[mode] ? 'yes' : '')).join(' | ')} | ${native.join(', ')} |`
  })
  const heads = MODES.map((mode) => mode.replaceAll('_', ' '))
  const table = [
    `| | ${heads.join(' | ')} | passed on untranslated |`,
    `|---|${heads.map(() => '---|').join('')}---|`,
    ...rows,
  ]
  const missing = PROVIDER_KINDS.filter((kind) => !providers.has(kind)).map((kind) => `\`${kind}\``)
  if (missing.length > 0) table.push('', `Not built yet, and refused at the start: ${missing.join(', ')}.`)
  return table.join('\n')
}
