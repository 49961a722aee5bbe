import { GatewayError } from '../../lib/errors.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { parseRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import type { Adapter, Outgoing, Reply } from '../provider.ts'
import { totalTokens } from '../wire/total-tokens.ts'
import { usageAtEnd } from '../wire/usage-at-end.ts'
import { eventRelay } from './event-relay.ts'
import { openaiEmbeddedFailure, openaiFailure } from './failure.ts'
import { openaiUsage } from './usage.ts'

/** An adapter that relays requests and answers of an OpenAI-shaped API byte for byte, with the model renamed. */
export function openaiJson<Request extends ModelRequest>(options: {
  readonly path: string
  /** The member of every answer that holds a list of what was asked for. */
  readonly answers: string
  /** The model generates no tokens, so a reported total is the input. */
  readonly reads?: true
  /** Usage beyond the reported tokens. */
  readonly usage?: (body: Readonly<Record<string, unknown>>, request: Request) => Partial<Usage>
  /** Types of the events that end a stream, where the vendor streams this kind. */
  readonly lastEvent?: RegExp
  /** The events of a whole answer. */
  readonly events?: Adapter['events']
}): Adapter<Request> {
  const { path, answers, lastEvent, events } = options
  return {
    request({ body, bytes }, connection) {
      const changes: Record<string, unknown> = {}
      if (body.model !== connection.model) changes.model = connection.model
      if (body.metadata !== undefined) changes.metadata = undefined
      return {
        method: 'POST',
        origin: connection.origin,
        path: `${connection.basePath}${path}`,
        headers: connection.headers,
        body: editJson(bytes, body, changes),
      }
    },
    reply: (bytes, _headers, call) => read(bytes, call, options.answers, options.usage),
    ...(lastEvent ? { stream: () => eventRelay(lastEvent) } : {}),
    ...(events ? { events } : {}),
    failure: openaiFailure,
  }

  function read(
    bytes: Uint8Array,
    { body: request }: Outgoing<Request>,
    member: string,
    more: typeof options.usage,
  ): Reply {
    const contentType = 'application/json'
    const atEnd = more ? undefined : usageAtEnd(bytes, member)
    if (atEnd) return { bytes, contentType, usage: atEnd, outputCharacters: 0 }
    const body = parseRecord(bytes)
    if (body?.error) throw openaiEmbeddedFailure(body.error)
    const list = body?.[member]
    if (!body || !Array.isArray(list)) {
      throw new GatewayError('upstream_malformed', `The provider's answer has no list of '${answers}'.`)
    }
    if (list.length === 0) throw new GatewayError('unusable_answer', `The provider's answer has an empty '${answers}'.`)
    const tokens = openaiUsage(body.usage) ?? (options.reads ? totalTokens(body.usage) : undefined)
    const known = more?.(body, request)
    const usage = tokens ? { ...tokens, ...known } : known && usageOf(known)
    return { bytes, contentType, usage, outputCharacters: 0 }
  }
}
