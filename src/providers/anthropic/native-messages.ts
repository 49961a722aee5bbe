import { editJson } from '../../lib/json/edit-json.ts'
import { asList, asRecord, asText, isRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { type Adapter, type Connection, dropper, type Outgoing } from '../provider.ts'
import { countedTokens } from '../wire/counted-tokens.ts'
import { madeField, madeInMessage } from '../wire/made-ids.ts'
import { relayedEvents } from '../wire/relayed-events.ts'
import { askedCallChanges } from './asked-call.ts'
import { betasOf } from './bound-thoughts.ts'
import { messageEvents } from './message-events.ts'
import { messagesFailure } from './messages-failure.ts'
import { messagesProgress } from './messages-progress.ts'
import { charactersOf, readMessage } from './messages-reply.ts'
import { messagesUsage } from './messages-usage.ts'
import { ownTurns, withoutThoughts } from './own-turns.ts'
import { samplingChanges } from './sampling.ts'
import { thinkingChanges } from './thinking-fields.ts'

/** The fields of the Messages API that choose other models: those that answer where the asked one refuses. */
export const MESSAGES_ROUTING: ReadonlySet<string> = new Set(['fallbacks'])

const STOP = new TextEncoder().encode('event: message_stop\ndata: {"type":"message_stop"}\n\n')

/** The Messages API for its own clients: bytes are relayed both ways, the model is renamed and the usage read. Thoughts of
 *  other vendors' models are left out, and ids of their calls are replaced where Claude refuses them. */
export const nativeMessages: Adapter = {
  request: (call, connection) => relayed(call, connection, '/v1/messages'),

  reply(bytes, _headers, call) {
    const message = readMessage(bytes)
    const outputCharacters = charactersOf(asList(message.content).map(asRecord))
    const usage = messagesUsage(message.usage)
    const made = madeField(madeInMessage(message, isThreaded(call)))
    return { bytes, contentType: 'application/json', usage, outputCharacters, ...made }
  },

  stream: (call) => relayedEvents(messagesProgress(isThreaded(call)), () => STOP),
  events: messageEvents,
  failure: messagesFailure,
  again: withoutThoughts,
}

export const nativeCountTokens: Adapter = {
  request: (call, connection) => relayed(call, connection, '/v1/messages/count_tokens'),
  reply: (bytes) => countedTokens(bytes, 'input_tokens'),
  failure: messagesFailure,
  again: withoutThoughts,
}

function relayed(call: Outgoing, connection: Connection, path: string) {
  const { body, bytes, clientHeaders = {} } = call
  const { model, baseModel } = connection
  const changes: Record<string, unknown> = {
    ...ownTurns(body),
    ...thinkingChanges(body, baseModel),
    ...samplingChanges(body, baseModel, dropper(call)),
  }
  Object.assign(changes, askedCallChanges(body, changes, baseModel, dropper(call)))
  if (body.model !== model) changes.model = model
  if (isRecord(body.metadata)) Object.assign(changes, forUpstream(body))
  return {
    method: 'POST' as const,
    origin: connection.origin,
    path: connection.basePath + path,
    headers: { ...connection.headers, ...versions(clientHeaders, connection, betasOf(changes.thinking)) },
    body: editJson(bytes, body, changes),
  }
}

/** The vendor accepts only the user id; other metadata is the gateway's. */
function forUpstream({ metadata }: ModelRequest): { metadata?: unknown } {
  const { user_id, ...own } = metadata ?? {}
  if (Object.keys(own).length === 0) return {}
  return { metadata: user_id === undefined ? undefined : { user_id } }
}

/** The client's version replaces the operator's; its betas, and those of what was changed, are appended to the operator's. */
function versions(
  client: Readonly<Record<string, string>>,
  { headers }: Connection,
  more: readonly string[],
): Record<string, string> {
  const named = [asText(headers['anthropic-beta']), client['anthropic-beta'] ?? ''].filter((names) => names !== '')
  const betas = [...named, ...more.filter((beta) => !named.join(',').includes(beta))]
  const version = client['anthropic-version']
  return {
    ...(version === undefined ? {} : { 'anthropic-version': version }),
    ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
  }
}

const isThreaded = ({ body }: Outgoing) => isRecord(body.thread)
