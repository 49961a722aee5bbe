import { MODE_NAMES } from '../../../src/modes/mode.ts'
import { providers } from '../../../src/providers/index.ts'

const DIALECTS = ['messages', 'responses'] as const
/** Completions are chat's answers, put into other words. */
const MODES = MODE_NAMES.filter((mode) => mode !== 'completion')

/** Every provider of this build, with the kinds of request that it takes and the dialects of chat that it speaks itself. */
export function providerKinds(): string {
  const rows = [...providers.values()].map(({ kind, adapters }) => {
    const native = DIALECTS.filter((dialect) => adapters[dialect]).map((dialect) => `\`${dialect}\``)
    return `| \`${kind}\` | ${MODES.map((mode) => (adapters[mode] ? 'yes' : '')).join(' | ')} | ${native.join(', ')} |`
  })
  const heads = MODES.map((mode) => mode.replaceAll('_', ' '))
  return [
    `| | ${heads.join(' | ')} | passed on untranslated |`,
    `|---|${heads.map(() => '---|').join('')}---|`,
    ...rows,
  ].join('\n')
}
