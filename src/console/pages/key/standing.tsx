import type { Answer } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { budget, count, dayAndTime, money } from '../../design/format.ts'
import { Meter } from '../../design/meter.tsx'
import { Facts, Section } from '../../design/page.tsx'
import { Loaded, Notice } from '../../design/states.tsx'
import { Ago, Moment } from '../../design/time.tsx'
import { limitWords } from '../requests/call.ts'
import type { Key } from './key.ts'

type Standing = Answer<'GET /ui/api/keys/{key_id}/standing'>
type Scope = Standing['scopes'][number]
type Budget = Scope['budgets'][number]

const WHOSE = { organization: 'organization', team: 'team', user: 'user', key: 'key' } as const

/** Every limit and budget that the next call of a key counts against, and the last refusals. */
export function KeyStanding({ of: key, calls }: { readonly of: Key; readonly calls: boolean }) {
  const read = useApi('GET /ui/api/keys/{key_id}/standing', { params: { key_id: key.key_id } }, { live: 30 })
  return (
    <>
      <Loaded of={read}>
        {(standing) => (
          <>
            {standing.store === 'degraded' && (
              <Notice tone="warn">The shared store is away: the counts are those of one process only.</Notice>
            )}
            <p>{verdict(key, standing)}</p>
            {standing.parallel && (
              <Section title="Right now" level={3}>
                <Facts
                  of={[
                    [
                      'Calls at once',
                      <Meter
                        full
                        used={standing.parallel.used}
                        of={standing.parallel.limit}
                        text={`${count(standing.parallel.used)} of ${count(standing.parallel.limit)}`}
                      />,
                    ],
                  ]}
                />
              </Section>
            )}
            {standing.scopes
              .map((scope) => ({ ...scope, budgets: scope.budgets.filter(isBounded) }))
              .filter(({ limits, budgets }) => limits.length + budgets.length > 0)
              .map((scope) => (
                <ScopeStanding key={scope.scope} scope={scope} />
              ))}
          </>
        )}
      </Loaded>
      {calls && <Refusals of={key} />}
    </>
  )
}

/** Spend without a limit refuses no call. */
const isBounded = ({ limit, share }: Budget): boolean => limit !== null || share !== null

function ScopeStanding({ scope }: { readonly scope: Scope }) {
  const title = scope.scope === 'key' ? 'This key' : `${capital(WHOSE[scope.scope])} ${scope.name ?? scope.id}`
  return (
    <Section title={title} level={3}>
      <Facts
        of={[
          ...scope.limits.map(
            (limit) =>
              [
                `${capital(limit.unit)} per ${limit.window}`,
                <>
                  <Meter
                    full
                    used={limit.used}
                    of={limit.limit}
                    text={`${count(limit.used)} of ${count(limit.limit)}`}
                  />
                  {limit.limit === 0 ? (
                    <span class="quiet small">No call passes.</span>
                  ) : (
                    limit.used > 0 && (
                      <span class="quiet small">
                        {count(limit.left)} left, begins anew <Ago at={limit.resets_at} />
                      </span>
                    )
                  )}
                </>,
              ] as const,
          ),
          ...scope.budgets.map(
            (one) => [one.model ? `Budget for ${one.model}` : 'Budget', <Spending of={one} />] as const,
          ),
        ]}
      />
    </Section>
  )
}

function Spending({ of: one }: { readonly of: Budget }) {
  const { spent, limit, held, left, share } = one
  if (one.hidden || spent === null) {
    const part = Math.round(100 * (share ?? 0))
    return (
      <>
        <Meter full used={share ?? 0} of={1} text={`${part}\u00a0% spent`} />
        <span class="quiet small">You may not see the amounts.</span>
      </>
    )
  }
  return (
    <>
      <Meter
        full
        used={spent + (held ?? 0)}
        of={limit}
        text={limit === null ? money(spent) : `${money(spent)} of ${budget(limit)}`}
      />
      <span class="quiet small">
        {[held ? `${money(held)} held by running calls` : '', left === null ? '' : `${money(Math.max(0, left))} left`]
          .filter(Boolean)
          .join(', ')}
        {one.resets_at ? (
          <>
            {left === null && !held ? ' begins' : ', begins'} anew <Ago at={one.resets_at} />
          </>
        ) : (
          limit !== null && ', never resets'
        )}
      </span>
    </>
  )
}

/** The state of the limits in a sentence: whether the next call would be refused. */
function verdict(key: Key, { tightest, scopes }: Standing): string {
  if (key.state === 'revoked') return 'Revoked: every call is refused with 401.'
  if (key.state === 'expired') return 'Expired: every call is refused with 401.'
  if (key.state === 'owner_disabled') return 'The account of its owner is not active: every call is refused.'
  if (!tightest) return 'No limit and no budget: only providers limit the calls.'
  const at = scopes.find(({ limits, budgets }) => [...limits, ...budgets].some(({ name }) => name === tightest.name))
  const limit = at?.limits.find(({ name }) => name === tightest.name)
  const what = limit ? `${limit.unit} per ${limit.window}` : at ? 'the budget' : 'calls at once'
  const whose = !at || at.scope === 'key' ? 'of this key' : `of ${WHOSE[at.scope]} ${at.name ?? at.id}`
  const part = Math.round(100 * tightest.share)
  return tightest.share >= 1
    ? `The next call is refused: ${what} ${whose} ${limit ? 'are' : 'is'} used up.`
    : `Nearest to its end: ${what} ${whose}, ${part}\u00a0% used.`
}

const minuteAfter = (minute: string) => new Date(Date.parse(minute) + 60_000).toISOString()

/** Seconds between looks for refusals: whoever has just met one looks for it here. */
const SOON = 3

/** What has turned calls of a key away before they began, by the minute. */
function Refusals({ of: { key_id } }: { readonly of: Key }) {
  const read = useApi('GET /ui/api/refusals', { query: { key_id, limit: 5 } }, { live: SOON })
  return (
    <Section title="Last refusals" level={3}>
      <Loaded of={read} lines={2}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">None. A refused call is counted here a few seconds later.</p>
          ) : (
            <Facts
              of={data.map(({ minute, code, calls }) => [
                limitWords(code),
                <>
                  <a href={pathTo('requests', { tab: 'refusals', key_id, from: minute, to: minuteAfter(minute) })}>
                    <Moment at={minute} as={dayAndTime} />
                  </a>{' '}
                  <span class="quiet">{calls === 1 ? 'one call' : `${count(calls)} calls`}</span>
                </>,
              ])}
            />
          )
        }
      </Loaded>
    </Section>
  )
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
