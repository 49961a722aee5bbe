import { useEffect } from 'preact/hooks'
import { useParams } from '../data/params.ts'
import { refresh, useApi } from '../data/query.ts'
import { useScope } from '../data/scope.ts'
import { useMay, useSession } from '../data/session.ts'
import { shortcut } from '../data/shortcuts.ts'
import { stepOf } from '../data/sums.ts'
import { rangeParams, useTimeRange } from '../data/time-range.ts'
import { Page } from '../design/page.tsx'
import { Loaded } from '../design/states.tsx'
import { RangePicker } from '../design/time-range.tsx'
import { Attention } from './overview/attention.tsx'
import { FirstCall } from './overview/first-call.tsx'
import { LastFailures, MyKeys } from './overview/mine.tsx'
import { Over } from './overview/over-time.tsx'
import { Tiles } from './overview/tiles.tsx'

const LIVE = { live: 30 }
const ENDING_SOON_DAYS = 7
const MODELS = 7
/** Of what is listed, how many of a kind. */
const MOST = 20

export function Overview() {
  const params = useParams()
  const scope = useScope()
  const may = useMay()
  const { pages } = useSession()
  const range = useTimeRange('24h', { hours: true })
  const { from, to } = range
  const step = stepOf(range, '')
  // Who may not read the spend of others sees their own, and beside it their keys and their failures.
  const seesAll = may('spend.read')
  const seesSpend = pages.includes('usage')
  const mine = { enabled: !seesAll && seesSpend, ...LIVE }
  const spent = { ...scope, from, to }
  const summary = useApi('GET /ui/api/spend/summary', { query: spent }, { enabled: seesSpend, ...LIVE })
  const report = useApi(
    'GET /ui/api/spend/report',
    { query: { ...spent, group_by: step, split_by: 'model', split_top: MODELS, limit: 10_000 } },
    { enabled: seesAll, ...LIVE },
  )
  const health = useApi('GET /health/deployments', {}, LIVE)
  const budgets = useApi('GET /ui/api/budgets', { query: { ...scope, above: 0.8, limit: MOST } }, LIVE)
  const soon = new Date(Date.parse(to) + ENDING_SOON_DAYS * 86_400_000).toISOString()
  const ending = useApi(
    'GET /ui/api/keys',
    { query: { ...scope, ends_before: soon, state: 'active', limit: MOST } },
    { enabled: seesAll && may('key.read'), ...LIVE },
  )
  const keys = useApi('GET /ui/api/keys', { query: { owner: 'me', limit: 20 } }, mine)
  const failures = useApi('GET /ui/api/logs', { query: { owner: 'me', ending: 'failed', from, limit: 8 } }, mine)
  useEffect(
    () => shortcut('r', 'Refresh', () => void refresh('/ui/api/spend', '/health', '/ui/api/budgets', '/ui/api/keys')),
    [],
  )
  const quiet = summary.data && summary.data.total.calls === 0 && summary.data.previous.calls === 0
  const link = (page: string) => pages.includes(page)
  return (
    <Page title="Overview" actions={<RangePicker range={range} />}>
      {seesSpend && (
        <Loaded of={summary} lines={2}>
          {({ total, previous }) => (
            <Tiles total={total} previous={previous} range={rangeParams(params)} mine={!seesAll} />
          )}
        </Loaded>
      )}
      <Attention
        health={health}
        budgets={budgets}
        keys={seesAll ? ending : keys}
        unpriced={summary.data?.total.unpriced_calls ?? 0}
        soon={soon}
        most={MOST}
        opens={link}
        range={rangeParams(params)}
      />
      {(quiet || !seesAll) && <FirstCall health={health.data} quiet={quiet === true} opens={link} />}
      {seesAll && !quiet && <Loaded of={report}>{({ data }) => <Over rows={data} {...{ range, step }} />}</Loaded>}
      {!seesAll && seesSpend && (
        <div class="columns">
          <MyKeys keys={keys} />
          <LastFailures failures={failures} />
        </div>
      )}
    </Page>
  )
}
