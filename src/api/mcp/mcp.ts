import * as z from 'zod'
import { GatewayError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { requireNoLoop, VIA_HEADER } from '../../mcp/via.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'
import { type AcceptedAnswers, acceptedAnswers } from './accepted-answers.ts'
import { slotFor } from './call-slot.ts'
import { type Asking, answersTo, answerTo, takeNotification } from './dispatch.ts'
import { answerAsEvents } from './event-stream.ts'
import {
  failureOf,
  isId,
  messageIn,
  RPC_CODES,
  RpcFailure,
  type RpcId,
  type RpcRequest,
  rpcErrorBody,
} from './json-rpc.ts'
import { requireKnownOrigin } from './known-origin.ts'
import { hasBatches, versionOf } from './protocol-versions.ts'
import { requireWhole, tellsItsVersion } from './stateless.ts'
import { requireSameArguments } from './tool-headers.ts'
import { MCP_PATH } from './tool-record.ts'

/** The most messages in one body. */
const MOST_MESSAGES = 50

const SESSION_HEADER = 'mcp-session-id'
const LONGEST_SESSION = 128

const NOTHING: Answer = { status: 202, headers: {}, body: new Uint8Array() }

/** The gateway as a server of MCP over Streamable HTTP, without state: any process answers any request. */
export const mcp = defineRoute(
  {
    method: 'post',
    path: MCP_PATH,
    summary: 'The tools of all MCP servers that the caller may use, as one MCP server over Streamable HTTP.',
    tag: 'Tools',
    auth: 'caller',
    json: () =>
      z
        .union([z.looseObject({}), z.array(z.unknown())])
        .describe(
          'A message of JSON-RPC 2.0: initialize, server/discover, ping, tools/list, tools/call or a notification.',
        ),
    exact: true,
    responses: {
      200: {
        description: 'The answer to a request; a stream of events where progress is asked for.',
        contentType: ['application/json', 'text/event-stream'],
      },
      202: { description: 'A notification was taken.' },
    },
    errorBody: rpcErrorBody,
  },
  (scope) => {
    requireKnownOrigin(scope)
    requireNoLoop(scope.header(VIA_HEADER), scope.services.toolServers.gateway)
    const accepted = acceptedAnswers(scope.header('accept'))
    const asking = { scope, session: sessionOf(scope.header(SESSION_HEADER)) }
    const body: unknown = scope.input.json
    if (Array.isArray(body)) return answerList(asking, body, accepted)
    const message = messageIn(body)
    if (message.kind === 'invalid') return json(failureOf(message.id, message.failure, scope.requestId), 400)
    if (message.kind === 'response') return NOTHING
    if (message.kind === 'request' && tellsItsVersion(message, scope.header)) {
      return answerStateless(asking, message, accepted)
    }
    if (message.method !== 'initialize') versionOf(scope.header('mcp-protocol-version'))
    if (message.kind === 'request') return answerOne(asking, message, accepted)
    takeNotification(asking, message)
    return NOTHING
  },
)

/** Answers a request that tells its version itself. It belongs to no session. */
async function answerStateless({ scope }: Asking, request: RpcRequest, accepted: AcceptedAnswers): Promise<Answer> {
  try {
    requireWhole(request, scope.header)
    await requireSameArguments(scope, request)
  } catch (thrown) {
    if (!(thrown instanceof RpcFailure)) throw thrown
    const status = thrown.code === RPC_CODES.methodNotFound ? 404 : 400
    return json(failureOf(request.id, thrown, scope.requestId), status)
  }
  return answerOne({ scope, session: undefined, isStateless: true }, request, accepted)
}

async function answerOne(asking: Asking, request: RpcRequest, accepted: AcceptedAnswers): Promise<Answer> {
  const token = progressTokenOf(request.params)
  // The session only tells clients apart that share a key. It grants no access.
  const headers = request.method === 'initialize' ? { [SESSION_HEADER]: newId('mcp') } : {}
  const slot = await slotFor(asking.scope, request)
  if (!accepted.json || (token !== undefined && accepted.events)) {
    const answer = answerAsEvents(asking.scope, token, (progress) =>
      slot.during(answerTo({ ...asking, progress }, request)),
    )
    return { ...answer, headers: { ...answer.headers, ...headers } }
  }
  return json(await slot.during(answerTo(asking, request)), 200, headers)
}

async function answerList(asking: Asking, body: readonly unknown[], accepted: AcceptedAnswers): Promise<Answer> {
  if (!hasBatches(versionOf(asking.scope.header('mcp-protocol-version')))) {
    throw new GatewayError('invalid_request', 'Only MCP 2025-03-26 has lists of messages. Send one message.')
  }
  if (body.length === 0 || body.length > MOST_MESSAGES) {
    throw new GatewayError('invalid_request', `A list has 1 to ${MOST_MESSAGES} messages.`)
  }
  const messages = body.map(messageIn)
  if (messages.every(({ kind }) => kind === 'notification' || kind === 'response')) {
    await answersTo(asking, messages)
    return NOTHING
  }
  if (!accepted.json) return answerAsEvents(asking.scope, undefined, () => answersTo(asking, messages))
  return json(await answersTo(asking, messages))
}

function progressTokenOf({ _meta }: JsonRecord): RpcId | undefined {
  const token = isRecord(_meta) ? _meta.progressToken : undefined
  return isId(token) ? token : undefined
}

function sessionOf(header: string | undefined): string | undefined {
  return header !== undefined && header.length <= LONGEST_SESSION ? header : undefined
}
