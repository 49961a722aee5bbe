import { asGatewayError, type GatewayError } from '../../lib/errors.ts'
import { newTimedId } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import type { Answer } from '../../pipeline/answer.ts'
import type { Caller } from '../../pipeline/caller.ts'
import { runCall } from '../../pipeline/run-call.ts'
import { storableText } from '../../stores/sql/storable-text.ts'
import type { CallFinished } from '../../telemetry/events.ts'
import { callIdOf } from '../batch-ids.ts'
import { answeredLine, unansweredLine } from '../result-line.ts'
import { afterFailure } from './after-failure.ts'
import { batchClient } from './batch-client.ts'
import type { Outcome, ReadyItem } from './executor.ts'
import { placeResult } from './place-result.ts'
import type { RunServices } from './run-services.ts'

/** Called with the headers of an answer or refusal, which report the limits of the caller. */
export type LimitsReported = (headers: Readonly<Record<string, string>>) => void

/** Runs one item: its request goes through the pipeline as a call of the key that made the batch, and what a client
 *  would have got becomes its result. Never rejects. */
export async function runItem(
  services: RunServices,
  item: ReadyItem,
  caller: Caller,
  limitsReported: LimitsReported,
): Promise<Outcome> {
  const { batchId, tries, endpoint, body } = item
  if (!endpoint || !body) return missing(services, item)
  const requestId = newTimedId('req')
  const client = batchClient()
  const footprint = services.footprints.open(`batch of ${item.keyId}`)
  const after = (failure: GatewayError) => afterFailure(failure, tries, services.random)
  let event: CallFinished | undefined
  let outcome: Outcome
  try {
    footprint.add(body.byteLength)
    const answer = await runCall(services, {
      requestId,
      arrivedAt: performance.now(),
      caller,
      address: '',
      client,
      footprint,
      endpoint: endpoint.endpoint,
      bytes: body,
      hops: 0,
      batch: {
        batchId,
        callId: callIdOf(batchId, item.item, tries),
        repeats: (failure) => after(failure).kind !== 'ends',
        finished(finished) {
          event = finished
        },
      },
      begun() {},
    })
    limitsReported(answer.headers)
    const text = await textOf(answer)
    await client.settled()
    outcome = await ended(services, item, { status: answer.status, requestId, body: text, event, errorCode: null })
  } catch (thrown) {
    const failure = asGatewayError(thrown)
    if (failure.failure === 'internal') {
      services.log.warn('batch.item_failed', {
        batchId,
        item: item.item,
        error: describeError(failure.cause ?? thrown),
      })
    }
    if (failure.details.headers) limitsReported(failure.details.headers)
    await client.settled()
    outcome = await failed(services, item, failure, { requestId, event })
  } finally {
    footprint.release()
  }
  return outcome
}

/** The outcome of a failed try. */
export async function failed(
  services: RunServices,
  item: ReadyItem,
  failure: GatewayError,
  { requestId, event }: { readonly requestId: string; readonly event: CallFinished | undefined },
): Promise<Outcome> {
  const { tries } = item
  const after = afterFailure(failure, tries, services.random)
  const error = storableText(`${failure.code ?? failure.failure}: ${failure.message}`) ?? failure.failure
  // A failure that cost something is final: trying again would cost again.
  if (after.kind !== 'ends' && (event === undefined || event.repeats)) {
    if (after.kind === 'waits') {
      // A nearly used budget has no room for the holds of all running items; each returns its hold when it ends.
      const isHeldBack = failure.failure === 'budget_exceeded'
      return { kind: 'postponed', delayMs: after.delayMs, isHeldBack, error }
    }
    const { delayMs, pauseMs } = after
    if (after.isThrottled) return { kind: 'throttled', tries: tries + 1, delayMs, pauseMs, error }
    return { kind: 'again', tries: tries + 1, delayMs, error }
  }
  const body = JSON.stringify(item.endpoint?.failureBody(failure, requestId) ?? {})
  const errorCode = storableText(failure.code ?? failure.failure)
  return ended(services, item, { status: failure.status, requestId, body, event, errorCode })
}

interface Ending {
  readonly status: number
  readonly requestId: string
  readonly body: string
  readonly event: CallFinished | undefined
  readonly errorCode: string | null
}

function ended(services: RunServices, item: ReadyItem, ending: Ending): Promise<Outcome> {
  const { status, event, errorCode } = ending
  return kept(services, item, answeredLine(item, ending), { status, event, errorCode, failed: status !== 200 })
}

/** The input file has no such request any more, or the build no such endpoint. */
function missing(services: RunServices, item: ReadyItem): Promise<Outcome> {
  const code = 'request_unavailable'
  const message = 'The request could not be read from the input file again.'
  const text = unansweredLine(item, { code, message })
  return kept(services, item, text, { status: null, event: undefined, errorCode: code, failed: true })
}

async function kept(
  services: RunServices,
  item: ReadyItem,
  text: string,
  facts: Pick<Ending, 'event' | 'errorCode'> & { readonly status: number | null; readonly failed: boolean },
): Promise<Outcome> {
  const { event, ...more } = facts
  const { usage } = event ?? {}
  return {
    kind: 'ended',
    event,
    ended: {
      ...identityOf(item),
      ...more,
      customId: storableText(item.customId),
      callId: event?.callId ?? null,
      model: event ? storableText(event.requestedModel) : null,
      inputTokens: usage?.inputTokens ?? 0,
      cachedInputTokens: usage?.cachedInputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      reasoningTokens: usage?.reasoningTokens ?? 0,
      costNano: event ? (event.costNano ?? null) : 0,
      text: await placeResult(services, item, text),
    },
  }
}

function identityOf({ batchId, item, tries, token, startsAt, length, line }: ReadyItem) {
  return { batchId, item, tries, token, startsAt, length, line }
}

/** The JSON of an answer, on one line. */
async function textOf({ body, headers }: Answer): Promise<string> {
  const text = await new Response(body as BodyInit).text()
  if (!headers['content-type']?.includes('json')) return JSON.stringify(text)
  // Between the tokens of JSON a line's end is a space; within its strings it is always escaped.
  return /[\n\r\0]/.test(text) ? text.replace(/[\n\r]/g, ' ').replaceAll('\0', '\\u0000') : text
}
