import { MODEL_MODES } from '../../../src/config/sections/model-list.ts'
import type { ModeName, Operation } from '../../../src/modes/mode.ts'
import { providers } from '../../../src/providers/index.ts'

const DIALECTS = ['messages', 'responses', 'cohere_chat', 'cohere_embed', 'text_to_speech', 'speech_to_text'] as const
/** Completions are chat's answers, put into other words. */
const MODES = MODEL_MODES.filter((mode) => mode !== 'completion')
/** What models of a mode may serve beside the usual requests. */
const FURTHER: Readonly<Partial<Record<ModeName, readonly (readonly [Operation, string])[]>>> = {
  image_generation: [
    ['image_edit', 'edits'],
    ['image_variation', 'variations'],
  ],
  audio_transcription: [['audio_translation', 'translations']],
}

/** Every provider of this build, with the kinds of request that it takes and the dialects of chat that it speaks itself. */
export function providerKinds(): string {
  const rows = [...providers.values()].map(({ kind, adapters }) => {
    const native = DIALECTS.filter((dialect) => adapters[dialect]).map((dialect) => `\`${dialect}\``)
    const cells = MODES.map((mode) => {
      const further = FURTHER[mode]?.filter(([operation]) => adapters[operation]).map(([, word]) => word) ?? []
      return adapters[mode] ? ['yes', ...further].join(', ') : ''
    })
    return `| \`${kind}\` | ${cells.join(' | ')} | ${native.join(', ')} |`
  })
  const heads = MODES.map((mode) => mode.replaceAll('_', ' '))
  return [
    `| | ${heads.join(' | ')} | passed on untranslated |`,
    `|---|${heads.map(() => '---|').join('')}---|`,
    ...rows,
  ].join('\n')
}
