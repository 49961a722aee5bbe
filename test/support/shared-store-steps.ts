import {
  CAPACITY_UNITS,
  type Capacity,
  type DeploymentOutcome,
  PREFERRED_BY,
  type Reservation,
} from '../../src/stores/kv/deployment-signals.ts'
import {
  answerKey,
  clearedKey,
  type Key,
  keptResponsesKey,
  leadKey,
  providerIdKey,
  responseKey,
} from '../../src/stores/kv/keys.ts'
import type { Admission, Budget, Settlement, SharedStore } from '../../src/stores/kv/shared-store.ts'
import type { TestClock } from './clock.ts'
import type { Random } from './random.ts'

/** One thing done to a store. `run` answers what the store answered. */
export interface Step {
  readonly name: string
  readonly input: unknown
  run(store: SharedStore): Promise<unknown>
}

const SUBJECTS = ['org:1', 'team:red', 'key:ä']
const LIMITS = {
  quotas: SUBJECTS.flatMap((subject) =>
    (['requests', 'tokens'] as const).flatMap((unit) =>
      (['minute', 'hour', 'day'] as const).map((window) => ({ scope: '', subject, unit, window, limit: 1 })),
    ),
  ),
  slots: SUBJECTS,
  budgets: [...SUBJECTS, 'unknown'],
}
const DEPLOYMENTS = ['east', 'west', 'north', 'south']
const LEASES = [5, 30, 90]
/** Steps begin three minutes before one of them does. */
const PERIODS = ['2026-01', '2026-02', '2026-02-10T20:20:23.456Z']
const SINCE = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z']
const VALUES = [...['one', 'two'].map((name) => `value:${name}` as Key), providerIdKey('resp_ä')]

const RESPONSES = ['resp_1', 'resp_2', 'resp_3'].map((id) => responseKey('team:red', id))
const METER = keptResponsesKey('team:red')

const ANSWERS = ['one', 'two', 'ü'].map(answerKey)
const CLEARINGS = [clearedKey('', ''), clearedKey('org:1', 'mödel')]
const LEADS = ['one', 'all'].map(leadKey)

type Attempt = Reservation & { readonly attemptId: string }

interface OpenCall {
  readonly admission: Admission
  /** What it holds beyond that by now. */
  readonly more: Budget[]
  readonly attempts: Attempt[]
}

/** An endless, repeatable life of a few subjects and deployments: calls that end well, badly, twice or never, or run again
 *  after their end, retries of lost answers, jumps of the clock over minutes, hours and midnight (`awake` bounds them: a deployment is forgotten after
 *  a day, which only the model can see coming). */
export function sharedStoreSteps(random: Random, clock: TestClock): () => Step {
  const open: OpenCall[] = []
  const done: Settlement[] = []
  const ended: Admission[] = []
  let calls = 0
  let awakeMs = 20 * 3_600_000

  const chance = (share: number) => random.next() < share
  const some = <T>(list: readonly T[], share = 0.6) => random.shuffle(list).filter(() => chance(share))

  /** Mostly the newest there is. */
  const version = () => (chance(0.1) ? random.integer(0, 5) : 6 + Math.floor(calls / 40))
  const limits = (): Capacity =>
    Object.fromEntries(some(CAPACITY_UNITS, 0.2).map((unit) => [unit, random.integer(0, 12)]))
  const candidates = () =>
    some(DEPLOYMENTS, 0.8).map((deployment) => ({
      deployment,
      limits: limits(),
      ...(chance(0.9) ? { capacity: limits() } : {}),
    }))

  const holding = () => {
    const holdNano = chance(0.2) ? 0 : random.integer(1, 900_000_000_000_001)
    return chance(0.3) ? { holdNano, likelyNano: random.integer(0, holdNano) } : { holdNano }
  }

  function admission(): Admission {
    calls += 1
    return {
      callId: `call-${calls}`,
      attemptId: `call-${calls}/1`,
      versions: some(SUBJECTS, 0.3).map((record) => ({ record, version: version(), remembered: chance(0.3) })),
      quotas: some(SUBJECTS).flatMap((subject) =>
        some(
          (['requests', 'tokens'] as const).flatMap((unit) =>
            (['minute', 'hour', 'day'] as const).map((window) => ({ unit, window })),
          ),
          0.3,
        ).map(({ unit, window }) => ({
          scope: `${subject}/${unit}/${window}`,
          subject,
          unit,
          window,
          limit: chance(0.03) ? 0 : random.integer(3, 40),
        })),
      ),
      tokens: random.integer(0, 3),
      slots: some(SUBJECTS, 0.3).map((subject) => ({
        scope: `${subject}/slots`,
        subject,
        limit: random.integer(0, 9),
      })),
      budgets: some(SUBJECTS, 0.4).map((subject) => ({
        scope: `${subject}/budget`,
        subject,
        limitNano: random.integer(0, 3) * 1_000_000_007 + 1_500_000_000_000_000,
        ...holding(),
        period: chance(0.9) ? '2026-02' : random.pick(PERIODS),
        ...(chance(0.3) ? { since: random.pick(SINCE) } : {}),
        ...(chance(0.7) ? { seedNano: random.integer(0, 1_000_000_000) } : {}),
      })),
      candidates: candidates(),
      ...(chance(0.6) ? { preference: { by: random.pick(PREFERRED_BY), unit: random.pick(CAPACITY_UNITS) } } : {}),
      leaseSeconds: random.pick(LEASES),
      ...(chance(0.8) ? { cache: lookup() } : {}),
    }
  }

  const lookup = () => ({
    answers: random.shuffle(ANSWERS).slice(0, random.pick([1, 1, 2, 3])),
    clearings: some(CLEARINGS, 0.8),
    maxAgeSeconds: random.pick([30, 86_400, 86_400]),
    lead: random.pick(LEADS),
    leadSeconds: random.pick(LEASES),
  })

  function admit(call: Admission): Step {
    return {
      name: 'admit',
      input: call,
      async run(store) {
        const answer = await store.admit(call)
        if (answer.kind === 'admitted' && ['hit', 'follow'].includes(answer.cached?.state ?? '')) return answer
        if (answer.kind === 'admitted' && !open.some(({ admission }) => admission === call)) {
          const attempts = answer.reserved ? [{ attemptId: call.attemptId, ...answer.reserved }] : []
          open.push({ admission: call, more: [], attempts })
        }
        return answer
      },
    }
  }

  const outcome = ({ attemptId, deployment, at }: Attempt): DeploymentOutcome => ({
    attemptId,
    deployment,
    ...(chance(0.2) ? { unusedSince: at } : {}),
    result: random.pick(['succeeded', 'failed', 'failed', 'neutral', 'released']),
    used: Object.fromEntries(some(CAPACITY_UNITS, 0.2).map((unit) => [unit, random.next() * 5])),
    ...(chance(0.7) ? { latencyMs: random.next() * 1000 } : {}),
    ...(chance(0.4) ? { firstTokenMs: random.next() * 100 } : {}),
    ...(chance(0.6) ? { error: random.pick(['timeout', 'rate_limit', 'connection']) } : {}),
    cooldown: { allowedFails: random.integer(0, 2), seconds: random.pick([0, 10, 60, 0.5]) },
  })

  /** As before a dearer fallback. */
  function holdMore(): Step {
    const call = random.pick(open)
    const { admission, more } = call
    const budgets = some(admission.budgets, 0.7).map((budget): Budget => {
      const held = [...admission.budgets, ...more].filter(({ subject }) => subject === budget.subject)
      const ownNano = held.map(({ holdNano }) => holdNano)
      let holdNano = random.integer(1, 900_000_000_000_001)
      while (ownNano.includes(holdNano)) holdNano += 1
      return { ...budget, holdNano, likelyNano: random.integer(0, holdNano), ownNano: some(ownNano, 0.9) }
    })
    const nothing = { versions: [], quotas: [], tokens: 0, slots: [], candidates: [] }
    const asked = {
      ...nothing,
      callId: admission.callId,
      attemptId: 'none',
      budgets,
      leaseSeconds: random.pick(LEASES),
    }
    return {
      name: 'admit',
      input: asked,
      async run(store) {
        const answer = await store.admit(asked)
        if (answer.kind === 'admitted' && !budgets.some((one) => more.includes(one))) more.push(...budgets)
        return answer
      },
    }
  }

  /** As after a crash: the same call by another attempt. */
  function again(): Admission {
    calls += 1
    const call = random.pick(ended)
    return { ...call, attemptId: `${call.callId}/again-${calls}`, leaseSeconds: random.pick(LEASES) }
  }

  const settlement = ({ admission, more, attempts }: OpenCall): Settlement => ({
    callId: admission.callId,
    ...(chance(0.2) ? { lateMs: random.pick([1, 1000, 60_000]) } : {}),
    ...(chance(0.1) ? { id: `${admission.attemptId}/${random.integer(1, 2)}` } : {}),
    slots: admission.slots.map(({ subject }) => subject),
    budgets: [
      ...[...admission.budgets, ...more].map(({ subject, period, since, holdNano }) => ({
        subject,
        period,
        since,
        holdNano,
        spentNano: random.integer(0, holdNano + 5),
      })),
      ...some(SUBJECTS, 0.1).map((subject) => ({ subject, period: '2026-02', holdNano: 0, spentNano: 5 })),
    ],
    outcomes: attempts.map(outcome),
    counters: Object.fromEntries(
      some(['requests', 'tokens{model="ü"}'], 0.5).map((name) => [name, random.integer(0, 9) / 4]),
    ),
    entries: some(['fallbacks', 'other'], 0.3).map((log) => ({ log, text: `entry "${random.letters(4)}" ✓`, keep: 3 })),
    ...(chance(0.3)
      ? { values: some(VALUES).map((key) => ({ key, text: `["ü","${random.letters(4)}"]`, ttlSeconds: 864_000.5 })) }
      : {}),
    ...(chance(0.2)
      ? {
          values: some(RESPONSES).map((key) => ({
            key,
            text: random.letters(random.integer(1, 9)),
            ttlSeconds: 864_000,
            meter: { key: METER, most: 20 },
          })),
        }
      : {}),
    ...(admission.cache && chance(0.8)
      ? {
          lead: { key: admission.cache.lead, unkeptSeconds: chance(0.5) ? 60 : 0 },
          values: some(ANSWERS, 0.8).map((key) => ({ key, text: answerText(), ttlSeconds: 864_000 })),
        }
      : {}),
  })

  /** Now and then a damaged one. */
  const answerText = () =>
    chance(0.8) ? `${clock.now()}|"ü" ${random.letters(4)}` : random.pick([`${clock.now()}|`, '|x', '12x|', '7'])

  const settle = (outcome: Settlement): Step => ({
    name: 'settle',
    input: outcome,
    run: async (store) => store.settle(outcome),
  })

  function startAttempt(): Step {
    const call = random.pick(open)
    const start = {
      attemptId: chance(0.2) ? call.admission.attemptId : `${call.admission.callId}/${call.attempts.length + 2}`,
      candidate: { deployment: random.pick(DEPLOYMENTS), limits: limits() },
      leaseSeconds: random.pick(LEASES),
      early: chance(0.4),
      retry: chance(0.3),
    }
    return {
      name: 'startAttempt',
      input: start,
      async run(store) {
        const started = await store.startAttempt(start)
        const { attemptId } = start
        if (started && !call.attempts.some((one) => one.attemptId === attemptId))
          call.attempts.push({ attemptId, ...started })
        return started
      },
    }
  }

  /** Sometimes of an attempt that the store knows nothing of. */
  function commit(): Step {
    const { admission, attempts } = random.pick(open)
    const attempt = chance(0.9) ? attempts.at(-1) : undefined
    const { attemptId, deployment, at } = attempt ?? { attemptId: 'nobody', deployment: 'east', at: 0 }
    const begun = { ...outcome({ attemptId, deployment, at, probe: false }), result: 'committed' } as const
    const nothing = { slots: [], budgets: [], counters: {}, entries: [] }
    return settle({ callId: `${admission.callId}/${random.integer(1, 3)}/commit`, outcomes: [begun], ...nothing })
  }

  function renew(): Step {
    const { admission, more, attempts } = random.pick(open)
    const lease = {
      callId: admission.callId,
      attemptIds: [...attempts],
      slots: admission.slots.map(({ subject }) => subject),
      budgets: [...admission.budgets, ...more].map(({ subject, holdNano }) => ({ subject, holdNano })),
      leaseSeconds: random.pick(LEASES),
      ...(admission.cache ? { lead: { key: admission.cache.lead, seconds: random.pick(LEASES) } } : {}),
    }
    return { name: 'renew', input: lease, run: (store) => store.renew(lease) }
  }

  function raise(): Step {
    const period = random.pick(PERIODS)
    const spent = some(LIMITS.budgets, 0.7).map((subject) => ({ subject, period, spentNano: random.integer(0, 40) }))
    return { name: 'raise', input: spent, run: (store) => store.raise(spent) }
  }

  function value(): Step {
    const key = random.pick(VALUES)
    const text = `"${random.letters(5)}" ☃`
    const clearing = random.pick(CLEARINGS)
    return random.pick<Step>([
      { name: 'stamp', input: clearing, run: (store) => store.stamp(clearing, 864_000) },
      { name: 'put', input: [key, text], run: (store) => store.put(key, text, 864_000) },
      { name: 'putNew', input: [key, text], run: (store) => store.putNew(key, text, 864_000) },
      { name: 'get', input: key, run: (store) => store.get(key) },
      { name: 'getAll', input: VALUES, run: (store) => store.getAll([...VALUES, key]) },
      { name: 'take', input: key, run: (store) => store.take(key) },
      { name: 'remove', input: VALUES, run: (store) => store.remove(...VALUES) },
    ])
  }

  function passTime(): Step {
    const jump = Math.min(awakeMs, random.pick([1, 400, 1000, 5000, 5000, 10_000, 30_000, 60_000, 61_000, 3_600_000]))
    awakeMs -= jump
    clock.advance(jump)
    return { name: 'time passes', input: jump, run: async () => undefined }
  }

  return () => {
    const dice = random.next()
    if (dice < 0.05) {
      const records = some(SUBJECTS, 0.5).map((record) => ({ record, version: version() }))
      const change = { records, removed: some(VALUES, 0.2) }
      return { name: 'publish', input: change, run: (store) => store.publish(change) }
    }
    if (dice < 0.1) return value()
    if (dice < 0.12) return raise()
    if (dice < 0.3) return passTime()
    if (open.length > 0) {
      if (dice < 0.32) return commit()
      if (dice < 0.34) return holdMore()
      if (dice < 0.37) return admit(random.pick(open).admission)
      if (dice < 0.42) return startAttempt()
      if (dice < 0.45) return renew()
      const [ending] = dice < 0.7 ? open.splice(random.integer(0, open.length - 1), 1) : []
      // One in five is never heard of again.
      if (ending && chance(0.8)) {
        const outcome = settlement(ending)
        done.push(outcome)
        ended.push(ending.admission)
        return settle(outcome)
      }
    }
    if (dice < 0.73 && done.length > 0) return settle(random.pick(done))
    if (dice < 0.77 && ended.length > 0) return admit(again())
    return admit(admission())
  }
}

/** Everything that a store tells without being changed. */
export async function observe(store: SharedStore): Promise<unknown> {
  return {
    signals: await store.signals([...DEPLOYMENTS, 'unknown']),
    standing: await store.standing(LIMITS),
    counters: await store.counters(),
    entries: [await store.entries('fallbacks', 2), await store.entries('other', 10), await store.entries('none', 5)],
    values: await store.getAll([...VALUES, ...RESPONSES, ...ANSWERS, ...CLEARINGS]),
  }
}
