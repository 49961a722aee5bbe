import { GatewayError } from '../../../lib/errors.ts'
import { chat } from '../../../modes/chat.ts'
import { asMode } from '../../../modes/mode.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import { geminiClient, listClient } from '../../dialects/gemini/client-stream.ts'
import { blockedAnswer } from '../../dialects/gemini/errors.ts'
import { geminiEvent } from '../../dialects/gemini/event-stream.ts'
import { asLists } from '../../dialects/gemini/lists.ts'
import { geminiCountBody, generateContentBody } from '../../dialects/gemini/schema.ts'
import { geminiCountDialect, geminiDialect } from '../../dialects/gemini.ts'
import { json } from '../../respond.ts'
import { runModelCall } from '../model-route.ts'
import { geminiRoute, methodPath } from './gemini-route.ts'

const common = {
  mode: asMode(chat),
  dialect: geminiDialect,
  errorEvent: geminiDialect.errorEvent,
  cached: 'whole',
} as const

const whole = { ...common, path: methodPath('generateContent') }
const streamed = { ...common, path: methodPath('streamGenerateContent') }
const counted = {
  path: methodPath('countTokens'),
  mode: asMode(chat),
  dialect: geminiCountDialect,
  free: true,
  errorEvent: geminiCountDialect.errorEvent,
} as const

export const generateContent = geminiRoute(
  whole,
  'generateContent',
  {
    summary: "Answer a conversation in the shape of Gemini's API.",
    schema: generateContentBody,
    response: { description: 'Candidates, the usage, and feedback on the prompt.', contentType: 'application/json' },
  },
  (scope, model) =>
    runModelCall(scope, whole, scope.caller(), {
      edit: (body) => ({ ...asLists(body), model, stream: undefined }),
    }).catch((thrown) => answerBlocked(thrown, (blocked) => json(blocked))),
)

export const streamGenerateContent = geminiRoute(
  streamed,
  'streamGenerateContent',
  {
    summary: "Answer a conversation in the shape of Gemini's API as a stream: server-sent events, or a JSON list.",
    schema: generateContentBody,
    response: {
      description: 'Pieces of the answer; server-sent events where the query says `alt=sse`, else the items of a list.',
      contentType: ['text/event-stream', 'application/json'],
    },
  },
  async (scope, model) => {
    const isList = scope.input.query.alt !== 'sse'
    const client = isList ? listClient(scope.client) : geminiClient(scope.client)
    const answer = await runModelCall({ ...scope, client }, streamed, scope.caller(), {
      edit: (body) => ({ ...asLists(body), model, stream: true }),
    }).catch((thrown) =>
      answerBlocked(thrown, (blocked) => {
        if (isList) return json([blocked])
        return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: geminiEvent(blocked) }
      }),
    )
    return isList
      ? { ...answer, headers: { ...answer.headers, 'content-type': 'application/json; charset=UTF-8' } }
      : answer
  },
)

export const countTokens = geminiRoute(
  counted,
  'countTokens',
  {
    summary:
      "Count the tokens of a conversation in the shape of Gemini's API. Where no provider of the model can, they are estimated, and `x-gateway-estimated` is `1`.",
    schema: geminiCountBody,
    response: { description: '`totalTokens`', contentType: 'application/json' },
  },
  (scope, model) =>
    runModelCall(scope, counted, scope.caller(), { edit: (body) => ({ ...asLists(body), model, stream: undefined }) }),
)

/** A blocked prompt is an answer in this dialect, once no fallback has taken it. */
function answerBlocked(thrown: unknown, write: (blocked: object) => Answer): Answer {
  if (!(thrown instanceof GatewayError) || thrown.failure !== 'content_policy') throw thrown
  const answer = write(blockedAnswer(thrown))
  return { ...answer, headers: { ...thrown.details.headers, ...answer.headers } }
}
