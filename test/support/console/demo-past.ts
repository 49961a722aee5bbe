import { setTimeout as wait } from 'node:timers/promises'
import { ownerOf } from '../../../src/limits/accounts.ts'
import { usageOf } from '../../../src/modes/usage.ts'
import type { Sql } from '../../../src/stores/sql/sql.ts'
import type { AttemptFinished, CallFinished, Charge } from '../../../src/telemetry/events.ts'
import { ledger } from '../../../src/telemetry/ledger.ts'
import { finishedCall } from '../finished-calls.ts'
import { type Random, seededRandom } from '../random.ts'
import { askOf } from './demo-data.ts'
import { batchLine, startBatch } from './demo-routing.ts'

const DAYS = 14
const HOUR = 3_600_000
const MINUTE = 60_000
/** How many calls the hours of a day have, from midnight UTC. */
const DAY = [8, 5, 4, 4, 5, 8, 16, 28, 44, 56, 60, 56, 48, 52, 60, 56, 48, 36, 28, 20, 16, 16, 12, 8]
const WEEKEND = 0.3

/** How often each is called, and what its calls are about: tokens, milliseconds. */
const MODELS = [
  { model: 'claude-opus', deployment: 'claude-opus-1', often: 5, input: 2400, output: 420, first: 640, rest: 5200 },
  { model: 'claude-opus', deployment: 'claude-opus-2', often: 4, input: 2600, output: 400, first: 710, rest: 5600 },
  { model: 'gpt-5-mini', deployment: 'gpt-5-mini-east', often: 7, input: 900, output: 180, first: 240, rest: 1700 },
  {
    ...{ model: 'accounts/fireworks/models/llama-v3p3-70b-instruct', deployment: 'llama-70b', often: 2 },
    ...{ input: 1500, output: 260, first: 180, rest: 1400 },
  },
] as const
const OFTEN = MODELS.flatMap((one) => Array<(typeof MODELS)[number]>(one.often).fill(one))

/** Who calls, the busiest twice. */
const CALLERS = ['support-widget', 'support-widget', 'notebook of dev', 'build-server', 'limited', 'night-jobs']

interface Key {
  readonly key_id: string
  readonly key_name: string
  readonly team_id: string | null
  readonly organization_id: string | null
  readonly user_id: string | null
}

interface Account {
  readonly subject: string
  readonly period: string
}

/** Two weeks of calls, written as the gateway writes them, the newest just now; changes by administrators; batches that are
 *  not over. Chance is the same each time. */
export async function fillPast(url: string, sql: Sql): Promise<void> {
  const { data: keys } = await askOf(url)<{ data: readonly Key[] }>('GET', '/ui/api/keys?limit=100')
  await fillChanges(url, keys)
  await fillBatches(url)
  await untilStill(() => countOf(sql))
  // What was called so far took no time at all: it is not what a reader sees first.
  await sql.query({ sql: "UPDATE gateway_spend SET at = at - interval '20 minutes'", parameters: [] })
  const accounts = (await sql.query<Account>({ sql: 'SELECT subject, period FROM gateway_budget', parameters: [] }))
    .rows
  const callers = CALLERS.flatMap((name) => keys.filter(({ key_name }) => key_name === name))
  const random = seededRandom(7)
  const calls = momentsOf(Date.now(), random).map((at) => {
    const by = random.pick(callers)
    return pastCall(at, by, chargesOf(by, accounts), random)
  })
  for (let from = 0; from < calls.length; from += 500) await ledger.write(sql, calls.slice(from, from + 500))
}

const countOf = async (sql: Sql) => {
  const { rows } = await sql.query<{ calls: string }>({
    sql: 'SELECT count(*) AS calls FROM gateway_spend',
    parameters: [],
  })
  return rows[0]?.calls
}

/** Waits until something has been the same for a second. */
async function untilStill(read: () => Promise<unknown>): Promise<void> {
  for (let before = await read(), now: unknown; ; before = now) {
    await wait(1000)
    now = await read()
    if (now === before) return
  }
}

/** Many by day, few by night and at weekends, and some within the last quarter of an hour. */
function momentsOf(now: number, { next }: Random): readonly number[] {
  const moments: number[] = []
  for (let begin = now - DAYS * 24 * HOUR; begin < now - HOUR / 2; begin += HOUR) {
    const date = new Date(begin)
    const usual = (DAY[date.getUTCHours()] ?? 1) * (date.getUTCDay() % 6 === 0 ? WEEKEND : 1)
    const calls = Math.round(usual * (0.7 + 0.6 * next()))
    for (let call = 0; call < calls; call++) moments.push(begin + next() * HOUR)
  }
  for (let call = 0; call < 30; call++) moments.push(now - next() * 15 * MINUTE)
  return moments
}

/** Of everything that is counted for a key, the period that is open. */
const chargesOf = ({ key_id, team_id, organization_id }: Key, accounts: readonly Account[]): readonly Charge[] => {
  const ids = [key_id, team_id, organization_id]
  return accounts.filter(({ subject }) => ids.includes(ownerOf(subject).id))
}

function pastCall(at: number, by: Key, charges: readonly Charge[], { next, pick, letters }: Random): CallFinished {
  const around = (middle: number) => Math.round(middle * (0.4 + next() + 1.6 * next() * next()))
  const { model, deployment, input, output, first, rest } = pick(OFTEN)
  const [inputTokens, outputTokens] = [around(input), around(output)]
  const usage = usageOf({ inputTokens, outputTokens, cachedInputTokens: next() < 0.3 ? inputTokens / 2 : 0 })
  const costNano = (inputTokens * 3 + outputTokens * 15) * 1000
  const firstTokenMs = around(first)
  const totalMs = firstTokenMs + around(rest)
  const served = { deployment, provider: 'openai-compatible', group: model, turn: 1 }
  const answered: Partial<CallFinished> = {
    at: new Date(at).toISOString(),
    callId: `call_${letters(16)}`,
    requestId: `req_${letters(16)}`,
    requestedModel: model,
    model,
    deployment,
    provider: served.provider,
    keyId: by.key_id,
    teamId: by.team_id ?? '',
    organizationId: by.organization_id ?? '',
    userId: by.user_id ?? '',
    tags: [pick(['interactive', 'nightly'])],
    streamed: next() < 0.7,
    usage,
    costNano,
    charges,
    overheadMs: 0.4 + next(),
    firstTokenMs,
    upstreamMs: totalMs,
    totalMs,
  }
  const luck = next()
  if (luck > 0.975) {
    const tried = [attempt({ ...served, ...OVERLOADED, startedMs: 1, totalMs: 380 })]
    const nothing = { model: '', deployment: '', provider: '', usage: undefined, costNano: 0, charges: [] }
    const failed = { ending: 'failed', status: 503, errorType: 'provider_error', firstTokenMs: undefined } as const
    return finishedCall({ ...answered, ...nothing, ...failed, tried, totalMs: 381 })
  }
  if (luck > 0.92 && model === 'claude-opus') {
    const other = deployment === 'claude-opus-1' ? 'claude-opus-2' : 'claude-opus-1'
    const startedMs = TOO_LATE.totalMs + 90
    const tried = [
      attempt({ ...served, ...TOO_LATE, startedMs: 1 }),
      attempt({ ...served, deployment: other, startedMs, firstTokenMs, totalMs, usage, costNano }),
    ]
    const later = { firstTokenMs: startedMs + firstTokenMs, totalMs: startedMs + totalMs }
    return finishedCall({ ...answered, ...later, deployment: other, attempts: 2, tried })
  }
  return finishedCall(answered)
}

const OVERLOADED = {
  result: 'failed',
  error: 'provider_error',
  message: 'The provider is overloaded.',
  upstreamStatus: 503,
  upstreamMessage: 'That model is currently overloaded with other requests.',
} as const

const TOO_LATE = {
  result: 'failed',
  error: 'timeout',
  message: 'The provider sent no first token within 10 s.',
  totalMs: 10_000,
} as const

const attempt = (known: Partial<AttemptFinished>) =>
  ({ result: 'answered', error: '', usage: undefined, costNano: undefined, ...known }) as AttemptFinished

/** What administrators have changed, and what was refused: a team that has keys cannot be deleted. */
async function fillChanges(url: string, keys: readonly Key[]): Promise<void> {
  const ask = askOf(url)
  const id = keys.find(({ key_name }) => key_name === 'build-server')?.key_id
  await ask('PATCH', `/ui/api/keys/${id}`, { max_budget: 18 })
  await ask('PATCH', `/ui/api/keys/${id}`, { rpm_limit: 120 })
  await ask('PATCH', '/ui/api/teams/support', { max_budget: 60 })
  await ask('PATCH', '/ui/api/teams/search', { max_budget: 50 })
  await ask('DELETE', '/ui/api/teams/search').catch(() => {})
}

/** A batch that waits for its key's limit, and one that was cancelled. */
async function fillBatches(url: string): Promise<void> {
  const ask = askOf(url)
  const { key } = await ask('POST', '/ui/api/keys', { key_name: 'catalogue', team_id: 'support', rpm_limit: 12 })
  const lines = Array.from({ length: 40 }, (_, index) => batchLine(`item-${index + 1}`, 'gpt-5-mini'))
  await startBatch(url, String(key), lines)
  const cancelled = await startBatch(url, String(key), lines)
  await ask('POST', `/v1/batches/${cancelled}/cancel`, {}, String(key))
}
