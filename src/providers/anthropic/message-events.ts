import { asList, asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'

/** The events of a whole message, for a client that asked for a stream. */
export function messageEvents(message: JsonRecord): JsonRecord[] {
  const { content, stop_reason, stop_sequence, usage, ...head } = message
  const begun = { ...head, content: [], stop_reason: null, stop_sequence: null, usage }
  return [
    { type: 'message_start', message: begun },
    ...asList(content).map(asRecord).flatMap(blockEvents),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: stop_sequence ?? null }, usage },
    { type: 'message_stop' },
  ]
}

function blockEvents(block: JsonRecord, index: number): JsonRecord[] {
  const { begun, deltas } = blockParts(block)
  return [
    { type: 'content_block_start', index, content_block: begun },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

/** A block as it begins, and the deltas that complete it. Blocks of other types begin whole. */
function blockParts(block: JsonRecord): { readonly begun: JsonRecord; readonly deltas: readonly JsonRecord[] } {
  switch (block.type) {
    case 'text': {
      const { citations, ...rest } = block
      const cited = asList(citations).map((citation) => ({ type: 'citations_delta', citation }))
      return { begun: { ...rest, text: '' }, deltas: [{ type: 'text_delta', text: asText(block.text) }, ...cited] }
    }
    case 'thinking': {
      const deltas: JsonRecord[] = [{ type: 'thinking_delta', thinking: asText(block.thinking) }]
      if (block.signature) deltas.push({ type: 'signature_delta', signature: block.signature })
      return { begun: { ...block, thinking: '', signature: '' }, deltas }
    }
    case 'tool_use':
    case 'server_tool_use': {
      const partial_json = JSON.stringify(block.input ?? {})
      return { begun: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json }] }
    }
    default:
      return { begun: block, deltas: [] }
  }
}
