import { GatewayError } from '../../lib/errors.ts'
import { rateHeaders } from '../../limits/rate-headers.ts'
import type { Admission, Admitted, Quota, Refused, Stale } from '../../stores/kv/shared-store.ts'
import type { Caller } from '../caller.ts'
import type { Client } from '../client.ts'
import { noteExhausted } from '../exhausted.ts'
import type { PipelineServices } from '../services.ts'

/** The lease of a call's slots, holds and in-flight marks. Long calls renew it; those of a call that is never settled
 *  expire. */
export const LEASE_SECONDS = 120

/** How often admission is repeated because its inputs changed meanwhile. */
const TURNS = 5

/** For this long after a reading the store is assumed to have known the versions, even if it has lost them since. */
const JUST_READ_MS = 1000

/** Spent money by subject, read from the database for one period, which may have ended since. */
export type Seeds = ReadonlyMap<string, { readonly period: string; readonly spentNano: number }>

export const NO_SEEDS: Seeds = new Map()

/** The caller's versions in an admission. */
export type Held = Pick<Admission, 'versions' | 'confirmedAt'>

/** The caller and the address of the request. */
export interface Asking {
  readonly caller: Caller
  readonly address: string
  /** Absent where there are no budgets. */
  readonly client?: Pick<Client, 'defer'>
}

/** The result of an admission that was granted. */
export interface Decision<Asked extends Admission = Admission> {
  /** The caller that was admitted: as given, or as read again. */
  readonly caller: Caller
  readonly asked: Asked
  readonly admitted: Admitted
}

/** Asks the shared store for admission, in one round trip if nothing changed. Data that is outdated or unknown to the
 *  store is read from the database, and the store is asked again; so it is when the call can do without what was
 *  refused. Throws the refusal. */
export async function decide<Asked extends Admission>(
  services: PipelineServices,
  { caller: first, address, client }: Asking,
  ask: (caller: Caller, seeds: Seeds, held: Held) => Asked,
  doesWithout?: (caller: Caller, refused: Refused) => boolean,
): Promise<Decision<Asked>> {
  let seeds = NO_SEEDS
  let caller = first
  let turn = 0
  while (turn < TURNS) {
    const asked = ask(caller, seeds, turn > 0 ? { versions: caller.versions } : heldBy(services, caller))
    const deciding = services.store.admit(asked)
    const answer = deciding instanceof Promise ? await deciding : deciding
    if (answer.kind !== 'stale' && !answer.unconfirmed) caller.confirmedAt = services.clock.now()
    if (answer.kind === 'admitted') return { caller, asked, admitted: answer }
    if (answer.kind === 'refused') {
      noteExhausted(caller, answer, asked.quotas)
      if (client) services.budgetNotices.refused(client, asked.budgets, answer)
      // This ends: each round leaves fewer models to exclude.
      if (doesWithout?.(caller, answer)) continue
      throw refusal(answer, asked.quotas)
    }
    turn += 1
    if (answer.budgets.length > 0) seeds = await withSpent(services, asked, answer, seeds)
    if (answer.records.length > 0)
      caller = await (answer.unconfirmed ? caller.confirmed(address) : caller.again(address))
  }
  const message = 'What the caller may do is being changed faster than it can be read. Try again.'
  throw new GatewayError('store_unavailable', message, { retryAfterSeconds: 1 })
}

function heldBy({ clock }: PipelineServices, { readAt, confirmedAt, versions, remembered }: Caller): Held {
  return { versions: clock.now() - readAt < JUST_READ_MS ? versions : remembered, confirmedAt }
}

/** Admits a request that is no model call, and returns its rate-limit headers. */
export async function admitRequest(
  services: PipelineServices,
  { requestId, tokens, ...asking }: Asking & { readonly requestId: string; readonly tokens: number },
): Promise<{ readonly caller: Caller; readonly headers: Record<string, string> }> {
  const nothing = { slots: [], budgets: [], candidates: [], leaseSeconds: LEASE_SECONDS }
  const decision = await decide(services, asking, ({ quotas }, _seeds, held) => ({
    callId: requestId,
    attemptId: requestId,
    ...held,
    quotas,
    tokens,
    ...nothing,
  }))
  return { caller: decision.caller, headers: rateHeaders(decision.asked.quotas, decision.admitted.quotas) }
}

async function withSpent(
  services: PipelineServices,
  { budgets }: Admission,
  { budgets: unknown }: Stale,
  known: Seeds,
): Promise<Seeds> {
  const wanted = budgets.filter(({ subject }) => unknown.includes(subject))
  const spent = await services.budgets.spent(wanted)
  const seeds = new Map(known)
  for (const [index, { subject, period }] of wanted.entries()) {
    seeds.set(subject, { period, spentNano: spent[index] ?? 0 })
  }
  return seeds
}

export function refusal(
  { scope, reason, resetsAt, now, quotas: states }: Refused,
  quotas: readonly Quota[],
): GatewayError {
  const headers = rateHeaders(quotas, states)
  if (reason === 'budget') {
    return new GatewayError('budget_exceeded', `Budget exceeded for scope '${scope}'`, { param: scope, headers })
  }
  return new GatewayError('rate_limited', `Rate limit exceeded for scope '${scope}'`, {
    param: scope,
    code: `${scope}_exceeded`,
    retryAfterSeconds: resetsAt === undefined ? 1 : Math.max(1, Math.ceil((resetsAt - now) / 1000)),
    headers,
  })
}
