import { joinBytes } from '../../lib/bytes/bytes.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { type AdmittedCall, admitCall, type CallIds } from '../admit/admit-call.ts'
import type { Call } from '../call.ts'
import type { CallInput } from '../call-input.ts'
import type { PipelineServices } from '../services.ts'
import { readAnswer } from './answer-text.ts'
import type { CachedAnswer, CacheUse, CallCache } from './cache-use.ts'
import { collecting } from './collected.ts'
import { ofAllInputs } from './embedded-inputs.ts'

/** An answer to many inputs is collected up to as many times the largest entry. */
const MOST_ENTRIES = 8

/** What the cache has for an admitted call: a stored answer, or the lead to ask for one. A call that follows an identical
 *  one waits for that one's answer, at most `cache_wait`; without one it is admitted again, uncounted, and asks. */
export async function fromCache(
  services: PipelineServices,
  input: CallInput,
  ids: CallIds,
  first: AdmittedCall,
): Promise<AdmittedCall> {
  let waitedMs = 0
  const until = performance.now() + 1000 * services.config.general_settings.cache_wait
  const { rateHeaders } = first
  const again = (looks: boolean) => admitCall(services, input, ids, { rateHeaders, looks })
  let admittedCall: AdmittedCall = first
  for (;;) {
    const { cached } = admittedCall.admitted
    const { cacheUse: use } = admittedCall
    if (!use) return admittedCall
    if (cached?.state === 'follow') {
      const from = performance.now()
      const awaited = await services.flights.follow(use, input.client.signal, until - from)
      waitedMs += performance.now() - from
      if (typeof awaited !== 'string') return served(admittedCall, use, awaited, waitedMs)
      admittedCall = await again(awaited === 'free')
      continue
    }
    const known = cached ? await Promise.all(cached.answers.map((text) => (text ? readAnswer(text) : undefined))) : []
    if (cached?.state !== 'hit')
      return asking(services, input, admittedCall, { use, known, waitedMs, leads: cached?.state === 'lead' })
    if (known.every((one) => one)) return served(admittedCall, use, known as CachedAnswer[], waitedMs)
    // Damaged: this call asks, and its answer replaces it.
    admittedCall = await again(false)
  }
}

/** The call that stored answers serve. */
function served(
  admittedCall: AdmittedCall,
  use: CacheUse,
  answers: readonly CachedAnswer[],
  waitedMs: number,
): AdmittedCall {
  const hit = use.inputs ? ofAllInputs(answers) : (answers[0] as CachedAnswer)
  const cache: CallCache = {
    use,
    servedAt: admittedCall.admitted.now,
    waitedMs,
    leads: false,
    hit,
    known: [],
    whole: undefined,
    savedNano: hit.costNano,
    collected: undefined,
  }
  return { ...admittedCall, cache }
}

/** The call that asks: for the inputs alone that have no stored answer. */
function asking(
  services: PipelineServices,
  { footprint }: CallInput,
  admittedCall: AdmittedCall,
  asked: Pick<CallCache, 'use' | 'known' | 'waitedMs' | 'leads'>,
): AdmittedCall {
  const { admitted, request, bytes } = admittedCall
  const { use, known, leads } = asked
  if (leads) services.flights.led(use.lead)
  const missing = use.inputs?.filter((_, at) => !known[at]) ?? []
  const isPart = use.inputs !== undefined && missing.length < use.inputs.length
  const { cache_max_entry_bytes: most } = services.config.general_settings
  const cache: CallCache = {
    ...asked,
    servedAt: admitted.now,
    hit: undefined,
    known: isPart ? known : [],
    whole: isPart ? { request, bytes } : undefined,
    savedNano: known.reduce((sum, one) => sum + (one?.costNano ?? 0), 0),
    // What only this process admitted is not stored: its clock is not the store's.
    collected: admitted.unconfirmed
      ? undefined
      : collecting(most * Math.min(use.inputs?.length ?? 1, MOST_ENTRIES), footprint.add),
  }
  if (!isPart) return { ...admittedCall, cache }
  return {
    ...admittedCall,
    request: { ...request, input: missing },
    bytes: joinBytes(editJson(bytes, request, { input: missing })),
    cache,
  }
}

/** Asks for all inputs after all: the stored vectors are of the call's own group, and those of another do not compare with
 *  them. */
export function askForAll(call: Pick<Call, 'request' | 'bytes' | 'cache'>): void {
  const { cache } = call
  if (!cache?.whole) return
  const { request, bytes } = cache.whole
  Object.assign(call, { request, bytes })
  call.cache = { ...cache, known: [], whole: undefined, savedNano: 0 }
}
