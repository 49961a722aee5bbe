import { COHERE_FIELDS } from '../../../src/api/dialects/cohere/fields.ts'
import * as gemini from '../../../src/api/dialects/gemini/fields.ts'
import * as messages from '../../../src/api/dialects/messages/fields.ts'
import * as responses from '../../../src/api/dialects/responses/fields.ts'
import { COHERE_EMBED_FIELDS } from '../../../src/modes/cohere/embed.ts'
import { SPEECH_TO_TEXT_FIELDS } from '../../../src/modes/elevenlabs/speech-to-text.ts'
import { TEXT_TO_SPEECH_FIELDS } from '../../../src/modes/elevenlabs/text-to-speech.ts'
import { type FieldRule, type FieldTable, hint, prefixed } from '../../../src/modes/field-table.ts'
import { CHAT_FIELDS } from '../../../src/providers/wire/unsupported-fields.ts'

const hints = (names: readonly string[]): FieldTable => Object.fromEntries(names.map((name) => [name, hint()]))

/** The dialects that are translated by way of chat, with what becomes of each field. */
const DIALECTS: Readonly<Record<string, FieldTable>> = {
  '/v1/messages': {
    ...messages.MESSAGES_FIELDS,
    ...prefixed('output_config', messages.OUTPUT_FIELDS),
    ...prefixed('tools', messages.TOOL_FIELDS),
    ...prefixed('tools', hints(messages.VENDOR_TOOLS)),
    ...prefixed('messages.content', messages.BLOCK_FIELDS),
  },
  '/v1/responses': {
    ...responses.RESPONSES_FIELDS,
    ...prefixed('reasoning', responses.REASONING_FIELDS),
    ...prefixed('tools', hints(responses.VENDOR_TOOLS)),
  },
  '/v2/chat': COHERE_FIELDS,
  '/v2/embed': COHERE_EMBED_FIELDS,
  '/v1/text-to-speech': TEXT_TO_SPEECH_FIELDS,
  '/v1/speech-to-text': SPEECH_TO_TEXT_FIELDS,
  '/v1beta/models/{model}:generateContent': {
    ...gemini.GEMINI_FIELDS,
    ...prefixed('generationConfig', gemini.CONFIG_FIELDS),
    ...prefixed('toolConfig', gemini.TOOL_CONFIG_FIELDS),
    ...prefixed('tools.functionDeclarations', gemini.FUNCTION_FIELDS),
    ...prefixed('contents.parts', gemini.PART_FIELDS),
    ...prefixed('tools', hints(gemini.VENDOR_TOOLS)),
  },
  '/v1/chat/completions': CHAT_FIELDS,
}

/** A row for each field that a translation does not merely carry, by dialect. */
export function dialectFields(): string {
  const rows = Object.entries(DIALECTS).flatMap(([dialect, table]) =>
    Object.entries(table)
      .filter(([, { fate, as }]) => fate !== 'carried' || as !== undefined)
      .map(([field, rule]) => `| \`${dialect}\` | \`${field}\` | ${wordsOf(rule)} |`),
  )
  return ['| | Field | At a provider of another dialect |', '|---|---|---|', ...rows].join('\n')
}

function wordsOf({ fate, as, how }: FieldRule): string {
  if (fate === 'hint') return 'left out as a hint'
  if (fate === 'refused') return how === undefined ? 'refused' : `refused ${how}`
  return [as === undefined ? '' : `\`${as}\``, how ?? ''].filter((words) => words !== '').join(': ') || fate
}
