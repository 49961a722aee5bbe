import type { ComponentChildren } from 'preact'
import type { Answer, ApiError } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import { State, type Tone } from '../../design/badge.tsx'
import { ago, budget, count, money } from '../../design/format.ts'
import { Section } from '../../design/page.tsx'
import { share } from '../../design/rounded.ts'
import { Failure, type Read } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'

interface Item {
  readonly id: string
  readonly thing: string
  readonly tone: Tone
  readonly what: string
  readonly more: ComponentChildren
  readonly page: string
  readonly params: Readonly<Record<string, string>>
}

type Health = Answer<'GET /health/deployments'>
type Budgets = Answer<'GET /ui/api/budgets'>
type Keys = Answer<'GET /ui/api/keys'>

const COLUMNS: ReadonlyArray<Column<Item>> = [
  { id: 'thing', label: 'What', cell: ({ thing }) => <span class="cut">{thing}</span> },
  { id: 'how', label: 'State', cell: ({ tone, what }) => <State tone={tone}>{what}</State> },
  { id: 'more', label: 'Detail', priority: 2, cell: ({ more }) => <span class="quiet wraps">{more}</span> },
]

/** Things that need attention, the worst first. Each part is read on its own: one that fails says so, and the others are
 *  shown. */
export function Attention({
  health,
  budgets,
  keys,
  unpriced,
  soon,
  most,
  opens,
  range,
}: {
  readonly health: Read<Health>
  readonly budgets: Read<Budgets>
  readonly keys: Read<Keys>
  readonly unpriced: number
  /** Keys that end before are told. */
  readonly soon: string
  /** Of each kind, so many are shown. */
  readonly most: number
  /** Whether the person may open a page. */
  readonly opens: (page: string) => boolean
  readonly range: Readonly<Record<string, string>>
}) {
  const away = health.data ? ofHealth(health.data) : []
  const notes = health.data?.notes ?? []
  const items = [
    ...away.slice(0, most),
    ...(health.data?.failing_sinks ?? []).map(ofSink),
    ...(health.data?.dead_letters ? [ofDeadLetters(health.data.dead_letters)] : []),
    ...notes.slice(0, most).map(ofNote),
    ...(budgets.data?.data.map(ofBudget) ?? []),
    ...(keys.data?.data
      .filter(({ state, expires_at: at }) => state === 'active' && at !== null && at < soon)
      .map(ofKey) ?? []),
    ...(unpriced > 0 ? [withoutPrice(unpriced, range)] : []),
  ].toSorted((a, b) => Number(b.tone === 'bad') - Number(a.tone === 'bad'))
  const more = [
    away.length > most && { text: `${count(away.length - most)} more deployments`, page: 'health', params: {} },
    budgets.data?.next_cursor && { text: 'more budgets', page: 'keys', params: { order: 'spend' } },
    keys.data?.next_cursor && { text: 'more keys that end', page: 'keys', params: { ends_before: soon } },
    notes.length > most && { text: `${count(notes.length - most)} more notes`, page: 'settings', params: {} },
  ].filter((one) => typeof one === 'object' && one !== null)
  const failed = [health, budgets, keys].filter(({ error }) => error !== null)
  const read = health.data !== undefined && budgets.data !== undefined
  return (
    <Section title="Attention">
      {failed.map(({ error, data, dataUpdatedAt, refetch }) => (
        <Failure
          key={error?.requestId}
          error={error as ApiError}
          retry={() => refetch()}
          readAt={data === undefined ? 0 : dataUpdatedAt}
        />
      ))}
      {items.length > 0 && (
        <Table
          name="attention"
          label="What asks for attention"
          columns={COLUMNS}
          rows={items}
          rowId={({ id }) => id}
          href={({ page, params }) => (opens(page) ? pathTo(page, params) : undefined)}
        />
      )}
      {more.length > 0 && (
        <p class="quiet">
          And{' '}
          {more.map(({ text, page, params }, at) => (
            <>
              {at > 0 && ', '}
              {opens(page) ? <a href={pathTo(page, params)}>{text}</a> : text}
            </>
          ))}
          .
        </p>
      )}
      {items.length === 0 && read && failed.length === 0 && (
        <p class="quiet">Nothing: every deployment takes calls, and no budget or key is about to end.</p>
      )}
    </Section>
  )
}

const WORDS = { cooling: 'cooling', probing: 'being probed', drained: 'drained', healthy: 'failing' } as const

function ofHealth({ store, deployments }: Health): Item[] {
  const away = deployments
    .filter(({ state, consecutive_failures: failures }) => state !== 'healthy' || failures > 0)
    .map(
      ({
        deployment_id: id,
        model_name,
        state,
        cooldown_until,
        consecutive_failures,
        last_error,
        last_error_at,
      }): Item => ({
        id: `deployment ${id}`,
        thing: id,
        tone: state === 'cooling' ? 'bad' : 'warn',
        what: WORDS[state],
        more: (
          <>
            {[
              `serves ${model_name}`,
              cooldown_until && `ends ${ago(cooldown_until)}`,
              consecutive_failures > 0 && `${consecutive_failures} failed in a row`,
              state !== 'drained' && last_error?.replaceAll('_', ' '),
            ]
              .filter(Boolean)
              .join(', ')}{' '}
            {state !== 'drained' && last_error_at && <Ago at={last_error_at} />}
          </>
        ),
        page: 'health',
        params: { model: model_name },
      }),
    )
  if (store.mode !== 'degraded') return away
  const limits = store.degraded_mode === 'fail_open' ? 'calls go on without limits' : 'calls with limits are refused'
  return [
    {
      id: 'store',
      thing: 'Shared store',
      tone: 'bad',
      what: 'cannot be reached',
      more: limits,
      page: 'health',
      params: {},
    },
    ...away,
  ]
}

const ofSink = ({ name, last_error, last_error_at, queued }: Health['failing_sinks'][number]): Item => ({
  id: `sink ${name}`,
  thing: name,
  tone: 'bad',
  what: 'takes no events',
  more: (
    <>
      sink: {last_error} <Ago at={last_error_at} />, {count(queued)} wait
    </>
  ),
  page: 'settings',
  params: { tab: 'sinks' },
})

const ofDeadLetters = (letters: number): Item => ({
  id: 'dead letters',
  thing: letters === 1 ? '1 record' : `${count(letters)} records`,
  tone: 'bad',
  what: 'refused by the database',
  more: 'kept as dead letters; sums of calls among them are missing from reports',
  page: 'settings',
  params: { tab: 'instance' },
})

const ofNote = ({ path, message }: Health['notes'][number]): Item => ({
  id: `note ${path}`,
  thing: path,
  tone: 'warn',
  what: 'configuration',
  more: message,
  page: 'settings',
  params: { search: path.split('.')[1] ?? path },
})

const PAGES = { organization: 'organizations', team: 'teams', user: 'people', key: 'keys' } as const

const ofBudget = ({
  scope,
  id,
  name,
  spend,
  max_budget: most,
  share: used,
  resets_at: resets,
}: Budgets['data'][number]): Item => ({
  id: `budget ${scope} ${id}`,
  thing: name ?? id,
  tone: used >= 1 ? 'bad' : 'warn',
  what: used >= 1 ? 'budget is used up' : `${share(used, 1)} of the budget`,
  more: (
    <>
      {scope}: {money(spend)} of {budget(most)}
      {resets === null ? (
        ', never resets'
      ) : (
        <>
          , resets <Ago at={resets} />
        </>
      )}
    </>
  ),
  page: PAGES[scope],
  params: { open: id },
})

const ofKey = ({ key_id: id, key_name, team_name, team_id, expires_at: at }: Keys['data'][number]): Item => ({
  id: `key ${id}`,
  thing: key_name ?? id,
  tone: 'warn',
  what: `key ends ${at === null ? 'never' : ago(at)}`,
  more: team_id === null ? 'without a team' : `of ${team_name ?? team_id}`,
  page: 'keys',
  params: { open: id },
})

const withoutPrice = (calls: number, range: Readonly<Record<string, string>>): Item => ({
  id: 'unpriced',
  thing: calls === 1 ? '1 call' : `${count(calls)} calls`,
  tone: 'warn',
  what: 'no price',
  more: 'add nothing to the spend: no budget counts them',
  page: 'requests',
  params: { ...range, unpriced: 'true' },
})
