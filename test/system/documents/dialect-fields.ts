import * as messages from '../../../src/api/dialects/messages/fields.ts'
import * as responses from '../../../src/api/dialects/responses/fields.ts'
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
  },
  '/v1/responses': { ...responses.RESPONSES_FIELDS, ...prefixed('tools', hints(responses.VENDOR_TOOLS)) },
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

export function wordsOf({ fate, as, how }: FieldRule): string {
  if (fate === 'hint') return 'left out as a hint'
  if (fate === 'refused') return 'refused'
  return [as === undefined ? '' : `\`${as}\``, how ?? ''].filter((words) => words !== '').join(': ') || fate
}
