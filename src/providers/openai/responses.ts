import { GatewayError } from '../../lib/errors.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { asRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { ResponsesRequest } from '../../modes/responses.ts'
import { type Adapter, dropper } from '../provider.ts'
import { madeField, madeInResponse } from '../wire/made-ids.ts'
import { upstreamMetadata } from '../wire/upstream-metadata.ts'
import { OPENAI_QUIRKS } from './chat-quirks.ts'
import { openaiFailure } from './failure.ts'
import { type FieldQuirks, withoutRefused } from './fitting/fields.ts'
import { withoutReasoning } from './fitting/foreign-reasoning.ts'
import { responseEvents } from './response-events.ts'
import { responsesFailure } from './responses-failure.ts'
import { openaiResponsesStream } from './responses-stream.ts'
import { responsesUsage } from './responses-usage.ts'

/** Responses with a vendor that serves them: bytes are relayed both ways, the model is renamed and the usage read. */
export const openaiResponsesWith = (fields: FieldQuirks): Adapter<ResponsesRequest> => ({
  request(call, connection) {
    const { body, bytes } = call
    const { effort } = asRecord(body.reasoning)
    const changes: Record<string, unknown> = {
      ...withoutRefused(body, connection.baseModel, effort, fields, dropper(call)),
    }
    if (body.model !== connection.model) changes.model = connection.model
    if (body.metadata !== undefined) changes.metadata = upstreamMetadata(body)
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/responses`,
      headers: connection.headers,
      body: editJson(bytes, body, changes),
    }
  },

  reply(bytes, _headers, { body }) {
    const response = parseRecord(bytes)
    const failure = response && responsesFailure(response)
    if (failure) throw failure
    if (!Array.isArray(response?.output)) {
      throw new GatewayError('upstream_malformed', "The provider's answer is not a response.")
    }
    const usage = responsesUsage(response)
    return {
      bytes,
      contentType: 'application/json',
      usage,
      ...madeField(madeInResponse(response, body.store !== false)),
      outputCharacters: usage ? 0 : JSON.stringify(response.output).length,
    }
  },

  stream: ({ body }) => openaiResponsesStream(body.store !== false),

  events: responseEvents,

  failure: openaiFailure,

  again: withoutReasoning,
})

/** Responses with OpenAI itself. */
export const openaiResponses = openaiResponsesWith(OPENAI_QUIRKS.fields)
