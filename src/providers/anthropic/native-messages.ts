import { readFrame } from '../../lib/bytes/sse.ts'
import { GatewayError } from '../../lib/errors.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { asList, asRecord, asText, isRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { usageOf } from '../../modes/usage.ts'
import type { Adapter, Connection, Outgoing, StreamReader } from '../provider.ts'
import { madeField, madeInMessage } from '../wire/made-ids.ts'
import { sseReader } from '../wire/sse-reader.ts'
import { messageEvents } from './message-events.ts'
import { messagesFailure } from './messages-failure.ts'
import { messagesProgress } from './messages-progress.ts'
import { charactersOf, readMessage } from './messages-reply.ts'
import { messagesUsage } from './messages-usage.ts'

const STOP = new TextEncoder().encode('event: message_stop\ndata: {"type":"message_stop"}\n\n')

/** The Messages API for its own clients: bytes are relayed both ways, the model is renamed and the usage read. */
export const nativeMessages: Adapter = {
  request: (call, connection) => relayed(call, connection, '/v1/messages'),

  reply(bytes, _headers, call) {
    const message = readMessage(bytes)
    const outputCharacters = charactersOf(asList(message.content).map(asRecord))
    const usage = messagesUsage(message.usage)
    const made = madeField(madeInMessage(message, isThreaded(call)))
    return { bytes, contentType: 'application/json', usage, outputCharacters, ...made }
  },

  stream: relayedStream,
  events: messageEvents,
  failure: messagesFailure,
}

/** Counting tokens is free. */
export const nativeCountTokens: Adapter = {
  request: (call, connection) => relayed(call, connection, '/v1/messages/count_tokens'),
  reply(bytes) {
    if (typeof parseRecord(bytes)?.input_tokens !== 'number') {
      throw new GatewayError('upstream_malformed', "The provider's answer has no 'input_tokens'.")
    }
    return { bytes, contentType: 'application/json', usage: usageOf({}), outputCharacters: 0 }
  },
  failure: messagesFailure,
}

function relayed({ body, bytes, clientHeaders = {} }: Outgoing, connection: Connection, path: string) {
  const changes: Record<string, unknown> = {}
  if (body.model !== connection.model) changes.model = connection.model
  if (isRecord(body.metadata)) Object.assign(changes, forUpstream(body))
  return {
    method: 'POST' as const,
    origin: connection.origin,
    path: connection.basePath + path,
    headers: { ...connection.headers, ...versions(clientHeaders, connection) },
    body: editJson(bytes, body, changes),
  }
}

/** The vendor accepts only the user id; other metadata is the gateway's. */
function forUpstream({ metadata }: ModelRequest): { metadata?: unknown } {
  const { user_id, ...own } = metadata ?? {}
  if (Object.keys(own).length === 0) return {}
  return { metadata: user_id === undefined ? undefined : { user_id } }
}

/** The client's version replaces the operator's; its betas are appended to the operator's. */
function versions(client: Readonly<Record<string, string>>, { headers }: Connection): Record<string, string> {
  const betas = [asText(headers['anthropic-beta']), client['anthropic-beta'] ?? ''].filter((names) => names !== '')
  const version = client['anthropic-version']
  return {
    ...(version === undefined ? {} : { 'anthropic-version': version }),
    ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
  }
}

const isThreaded = ({ body }: Outgoing) => isRecord(body.thread)

function relayedStream(call: Outgoing): StreamReader {
  const progress = messagesProgress(isThreaded(call))
  return sseReader(
    (frame) => {
      const { data } = readFrame(frame)
      if (data === undefined) return { out: frame.bytes }
      const event = parseRecord(data)
      if (!event) return { malformed: true }
      const meaning = progress(event)
      return meaning.failure ? meaning : { ...meaning, out: frame.bytes }
    },
    () => STOP,
  )
}
