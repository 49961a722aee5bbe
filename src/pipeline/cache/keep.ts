import type { GatewayError } from '../../lib/errors.ts'
import type { EndedLead } from '../../stores/kv/answer-cache.ts'
import type { Settlement } from '../../stores/kv/shared-store.ts'
import type { StoredValue } from '../../stores/kv/stored-value.ts'
import type { Call } from '../call.ts'
import { droppedFields } from '../plan/routing-fields.ts'
import type { PipelineServices } from '../services.ts'
import { settleInOrder } from '../settle/settle-in-order.ts'
import { answerText } from './answer-text.ts'
import type { CachedAnswer, CallCache } from './cache-use.ts'
import { eachInput } from './embedded-inputs.ts'

/** How long identical calls do not wait for each other after an answer that is not kept. */
const UNKEPT_SECONDS = 10

/** The most characters that one settlement stores: hosted stores refuse larger requests. Of a longer list the first
 *  answers are stored. */
const MOST_SETTLED_CHARACTERS = 900_000

/** What a call that has ended leaves in the cache. */
export interface Left {
  readonly answers: readonly CachedAnswer[] | 'failed' | 'unkept'
  readonly lead: EndedLead | undefined
  /** The answers as the store gets them. */
  readonly values: readonly StoredValue[] | Promise<readonly StoredValue[]>
}

/** The complete answer of a call, if it may be stored. undefined for a call that does not use the cache. */
export function leftBy(
  services: PipelineServices,
  call: Call,
  failure: GatewayError | undefined,
  costNano: number | undefined,
): Left | undefined {
  const { cache } = call
  if (!cache) return undefined
  const { use, known, leads } = cache
  const answers = answersOf(call, cache, failure, costNano)
  const lead = leads ? { key: use.lead, unkeptSeconds: answers === 'unkept' ? UNKEPT_SECONDS : 0 } : undefined
  if (typeof answers === 'string') return { answers, lead, values: [] }
  const { cache_max_entry_bytes: most } = services.config.general_settings
  const compressed = services.store.mode() === 'shared'
  const keys = use.answers.filter((_, at) => !known[at])
  const texts = answers.map((answer) => (answer.body.length > most ? '' : answerText(answer, compressed)))
  const valuesOf = (read: readonly string[]): StoredValue[] => {
    let left = Math.max(most, MOST_SETTLED_CHARACTERS)
    return keys.flatMap((key, at) => {
      const text = read[at] as string
      left -= text.length
      return text === '' || left < 0 ? [] : [{ key, text, ttlSeconds: use.ttlSeconds }]
    })
  }
  const ready = texts.every((text) => typeof text === 'string')
  const values = ready ? valuesOf(texts as string[]) : Promise.all(texts).then(valuesOf)
  return { answers: allAnswers(cache, answers), lead, values }
}

/** The answers that the call asked for, one for each input where each has its own. */
function answersOf(
  { attempts, group, servedGroup, malformedEvents, usage, made, request }: Call,
  { use, known, servedAt: askedAt, collected }: CallCache,
  failure: GatewayError | undefined,
  costNano: number | undefined,
): readonly CachedAnswer[] | 'failed' | 'unkept' {
  const answer = collected?.end()
  // A whole answer is complete although its client has left.
  if (failure && !(answer?.whole && failure.failure === 'client_closed')) return 'failed'
  const served = attempts.findLast(({ lostHedge }) => !lostHedge)
  // The answer of a fallback stands in for a moment only, and ids belong to who may use them.
  const isOwn = servedGroup === group.name && malformedEvents === 0 && (made === undefined || use.keepsIds)
  if (!answer || !served || served.unfinished || !isOwn) return 'unkept'
  const { deployment } = served
  const { whole: _whole, ...said } = answer
  const facts = {
    askedAt,
    usage,
    costNano: costNano ?? 0,
    deployment: deployment.id,
    provider: deployment.provider.kind,
  }
  if (use.inputs) {
    const missing = use.inputs.filter((_, at) => !known[at])
    return eachInput(answer.body, missing, facts) ?? 'unkept'
  }
  const dropped = droppedFields(served, request).join(', ')
  return [{ ...said, ...facts, ...(dropped === '' ? {} : { dropped }) }]
}

/** The answers to all inputs, those that were stored before among them. */
function allAnswers({ use: { inputs }, known }: CallCache, answers: readonly CachedAnswer[]): readonly CachedAnswer[] {
  if (!inputs || known.length === 0) return answers
  let next = 0
  return inputs.map((_, at) => known[at] ?? (answers[next++] as CachedAnswer))
}

/** Settles a call and leaves its answer in the cache. Calls that wait for the answer get it at once; without an
 *  answer, the next of them leads after the settlement. */
export function settleWith(
  services: PipelineServices,
  call: Call,
  { answers, lead, values }: Left,
  settlement: () => Settlement,
): Promise<void> | undefined {
  const { flights } = services
  const tell = () => lead && flights.ended(lead.key, answers)
  if (typeof answers !== 'string') tell()
  const settle = (texts: readonly StoredValue[]) =>
    settleInOrder(services, call, () => {
      const whole = settlement()
      return { ...whole, lead, values: [...(whole.values ?? []), ...texts] }
    })
  const settling = values instanceof Promise ? values.catch(() => []).then(settle) : settle(values)
  if (typeof answers !== 'string') return settling
  if (settling) return settling.then(tell)
  tell()
  return undefined
}
