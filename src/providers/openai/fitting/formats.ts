import { asRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { withFormatInstruction, withJsonAskedFor } from '../../wire/fitting/format-instruction.ts'

/** Where the formats for an answer that a vendor takes differ from OpenAI's. */
export interface FormatQuirks {
  /** It takes no schema for an answer. */
  readonly withoutSchemas?: true
  /** It takes a format for an answer only with a schema. */
  readonly schemasAlone?: true
  /** It takes no format for an answer beside functions. */
  readonly alone?: true
}

/** A translated request whose format for the answer is told in words where the vendor does not take it. */
export function withTakenFormat(body: ChatRequest, quirks: FormatQuirks, drop: Drop): ChatRequest {
  const { type } = asRecord(quirks.schemasAlone ? body.response_format : undefined)
  return (quirks.alone && body.tools?.length) || type === 'json_object'
    ? withFormatInstruction(body, drop)
    : withJsonAskedFor(body, !quirks.withoutSchemas, drop)
}

/** The same of a request in chat, as changes; whether its messages speak of JSON is left to the client. */
export function takenFormat(
  body: ChatRequest,
  quirks: FormatQuirks,
  drop: Drop,
): Readonly<Partial<Pick<ChatRequest, 'messages' | 'response_format'>>> {
  const { schemasAlone, alone } = quirks
  const { type } = asRecord(body.response_format)
  if (type !== 'json_schema' && !(type === 'json_object' && (schemasAlone || alone))) return NOTHING
  const { messages, response_format } = withTakenFormat(body, quirks, drop)
  return messages === body.messages ? NOTHING : { messages, response_format }
}

const NOTHING = {}
