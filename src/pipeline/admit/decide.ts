import { GatewayError } from '../../lib/errors.ts'
import { releasing } from '../../stores/kv/degrading/unused-places.ts'
import type { Admission, Admitted, Budget, Decided, Refused, Stale } from '../../stores/kv/shared-store.ts'
import type { Caller } from '../caller.ts'
import type { Client } from '../client.ts'
import type { PipelineServices } from '../services.ts'
import { noteExhausted } from './exhausted.ts'
import { refusal, roomIn } from './refusal.ts'

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
export type HeldRecords = Pick<Admission, 'versions' | 'confirmedAt'>

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

/** What is asked of the shared store for a caller: `seeds` is spend that was read for it, `held` its versions. */
type Ask<Asked extends Admission> = (caller: Caller, seeds: Seeds, held: HeldRecords) => Asked

/** Whether a call can do without what was refused. */
type DoesWithout = (caller: Caller, refused: Refused) => boolean

/** Asks the shared store for admission, in one round trip if nothing changed; a store inside the process that admits the
 *  call answers at once. Data that is outdated or unknown to the store is read from the database, and the store is asked
 *  again; so it is when the call can do without what was refused. Throws the refusal. */
export function decide<Asked extends Admission>(
  services: PipelineServices,
  asking: Asking,
  ask: Ask<Asked>,
  doesWithout?: DoesWithout,
): Decision<Asked> | Promise<Decision<Asked>> {
  const { caller } = asking
  const askedAt = services.clock.now()
  const asked = ask(caller, NO_SEEDS, heldBy(services, caller))
  const deciding = services.store.admit(asked)
  if (!(deciding instanceof Promise) && deciding.kind === 'admitted') {
    learn(services, deciding, askedAt)
    confirm(services, caller, deciding)
    return { caller, asked, admitted: deciding }
  }
  return decideInTurns(services, asking, { ask, doesWithout }, { askedAt, asked, deciding })
}

async function decideInTurns<Asked extends Admission>(
  services: PipelineServices,
  { caller: first, address, client }: Asking,
  { ask, doesWithout }: { readonly ask: Ask<Asked>; readonly doesWithout: DoesWithout | undefined },
  begun: {
    readonly askedAt: number
    readonly asked: Asked
    readonly deciding: ReturnType<PipelineServices['store']['admit']>
  },
): Promise<Decision<Asked>> {
  let { askedAt, asked, deciding } = begun
  let caller = first
  let seeds = NO_SEEDS
  let turn = 0
  for (;;) {
    const answer = await deciding
    learn(services, answer, askedAt)
    if (answer.kind !== 'stale') confirm(services, caller, answer)
    if (answer.kind === 'admitted') return { caller, asked, admitted: answer }
    if (answer.kind === 'refused' && turn < TURNS - 1 && isOver(answer, asked.budgets, caller)) turn += 1
    else if (answer.kind === 'refused') {
      noteExhausted(caller, answer, asked.quotas)
      if (client) services.budgetNotices.refused(client, asked.budgets, answer)
      // This ends: each round leaves fewer models to exclude.
      if (!doesWithout?.(caller, answer)) throw refusal(answer, asked, roomIn(answer, asked.budgets, caller))
    } else {
      turn += 1
      try {
        if (turn === TURNS) throw changingTooFast()
        if (answer.budgets.length > 0) seeds = await withSpent(services, asked, answer, seeds)
        if (answer.records.length > 0)
          caller = await (answer.unconfirmed ? caller.confirmed(address) : caller.again(address))
      } catch (error) {
        // A shared store that was too late with its answer may have admitted the call before this process was asked.
        const unused = releasing(asked, services.clock.now())
        if (unused) await services.store.settle(unused)
        throw error
      }
    }
    askedAt = services.clock.now()
    asked = ask(caller, seeds, turn > 0 ? { versions: caller.versions } : heldBy(services, caller))
    deciding = services.store.admit(asked)
  }
}

function changingTooFast(): GatewayError {
  const message = 'What the caller may do is being changed faster than it can be read. Try again.'
  return new GatewayError('store_unavailable', message, { retryAfterSeconds: 1 })
}

/** Notes that the shared store has compared the caller's versions. */
function confirm({ clock }: PipelineServices, caller: Caller, { unconfirmed }: Admitted | Refused): void {
  if (!unconfirmed) caller.confirmedAt = clock.now()
}

/** Notes what the clock of the shared store says. */
function learn({ storeClock }: PipelineServices, { unconfirmed, now }: Decided, askedAt: number): void {
  if (!unconfirmed && now !== undefined) storeClock.learn(now, askedAt)
}

function heldBy({ clock }: PipelineServices, { readAt, confirmedAt, versions, remembered }: Caller): HeldRecords {
  return { versions: clock.now() - readAt < JUST_READ_MS ? versions : remembered, confirmedAt }
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

/** Whether the period of the budget that refused had ended by then. */
function isOver({ subject, now }: Refused, budgets: readonly Budget[], { accounts }: Caller): boolean {
  const asked = budgets.find((one) => one.subject === subject)
  const account = accounts.find((one) => one.subject === subject)
  return asked !== undefined && account !== undefined && account.periodAt(now) > asked.period
}
