import { asList, asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'

/** The events of a whole response, for a client that asked for a stream. */
export function responseEvents(response: JsonRecord): JsonRecord[] {
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...asList(response.output).map(asRecord).flatMap(itemEvents),
    { type: response.status === 'incomplete' ? 'response.incomplete' : 'response.completed', response },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

function itemEvents(item: JsonRecord, output_index: number): JsonRecord[] {
  const at = { item_id: asText(item.id), output_index }
  const { hidden, inside } = contentEvents(item, at)
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', ...hidden } },
    ...inside,
    { type: 'response.output_item.done', output_index, item },
  ]
}

/** The members that an item lacks when it begins, and the events that deliver them. */
function contentEvents(
  item: JsonRecord,
  at: JsonRecord,
): { readonly hidden: JsonRecord; readonly inside: JsonRecord[] } {
  if (item.type === 'message') {
    const parts = asList(item.content).map(asRecord)
    return {
      hidden: { content: [] },
      inside: parts.flatMap((part, content_index) => partEvents(part, { ...at, content_index })),
    }
  }
  if (item.type !== 'function_call') return { hidden: {}, inside: [] }
  const whole = asText(item.arguments)
  return {
    hidden: { arguments: '' },
    inside: [
      { type: 'response.function_call_arguments.delta', ...at, delta: whole },
      { type: 'response.function_call_arguments.done', ...at, arguments: whole },
    ],
  }
}

function partEvents(part: JsonRecord, at: JsonRecord): JsonRecord[] {
  const field = part.type === 'refusal' ? 'refusal' : 'text'
  const name = part.type === 'refusal' ? 'response.refusal' : 'response.output_text'
  const words = asText(part[field])
  return [
    { type: 'response.content_part.added', ...at, part: { ...part, [field]: '' } },
    { type: `${name}.delta`, ...at, delta: words },
    { type: `${name}.done`, ...at, [field]: words },
    { type: 'response.content_part.done', ...at, part },
  ]
}
