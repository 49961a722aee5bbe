import { useParams } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { Button } from '../../design/button.tsx'
import { Meter } from '../../design/meter.tsx'
import { Section } from '../../design/page.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { type Key, nameOf } from '../key/key.ts'
import { KeyState } from '../key/key-state.tsx'
import { Limits } from '../key/limits.tsx'
import { Spent } from '../key/spent.tsx'
import { isLive, keysLeft, rulesOf, sharedLimits, type Team } from './allowance.ts'

const COLUMNS: ReadonlyArray<Column<Key>> = [
  { id: 'name', label: 'Key', cell: nameOf },
  { id: 'state', label: 'State', cell: (key) => <KeyState of={key} /> },
  { id: 'spend', label: 'Spent of budget', priority: 2, cell: (key) => <Spent of={key} /> },
  { id: 'limits', label: 'Own limits', priority: 3, cell: (key) => <Limits of={key} /> },
  { id: 'ends', label: 'Ends', priority: 3, cell: (key) => <Ago at={key.expires_at} never="never" /> },
  { id: 'used', label: 'Last used', priority: 2, cell: (key) => <Ago at={key.last_used_at} never="never" /> },
]

/** One's keys in a team, and what one may make there. */
export function TeamKeys({
  team,
  keys,
  open,
  onOpen,
  onCreate,
}: {
  readonly team: Team
  readonly keys: readonly Key[]
  readonly open: string | undefined
  readonly onOpen: (id: string) => void
  readonly onCreate: () => void
}) {
  const name = team.team_name ?? team.team_id
  const left = keysLeft(team, keys)
  const allowed = team.self_service_keys_enabled
  return (
    <div class="card">
      <Section
        title={name}
        actions={
          allowed &&
          left !== 0 && (
            <Button icon="plus" label={`New key in ${name}`} onClick={onCreate}>
              New key
            </Button>
          )
        }
      >
        {allowed ? <Allowance team={team} keys={keys} left={left} /> : <Closed team={team} />}
        {keys.length > 0 && <KeyTable label={`Your keys in ${name}`} keys={keys} open={open} onOpen={onOpen} />}
      </Section>
    </div>
  )
}

export function KeyTable({
  label,
  keys,
  open,
  onOpen,
}: {
  readonly label: string
  readonly keys: readonly Key[]
  readonly open: string | undefined
  readonly onOpen: (id: string) => void
}) {
  const params = useParams()
  return (
    <Table
      name="my-keys"
      label={label}
      columns={COLUMNS}
      rows={keys}
      rowId={(key) => key.key_id}
      href={(key) => params.with({ open: key.key_id })}
      onOpen={(key) => onOpen(key.key_id)}
      open={open}
    />
  )
}

function Allowance({
  team,
  keys,
  left,
}: {
  readonly team: Team
  readonly keys: readonly Key[]
  readonly left: number | null
}) {
  const most = team.self_service_max_keys_per_user
  const rules = rulesOf(team)
  const limits = sharedLimits(team)
  return (
    <>
      {most !== null && (
        <p>
          <Meter used={keys.filter(isLive).length} of={most} text={`${keys.filter(isLive).length} of ${most} keys`} />
          {left === 0 && <span class="quiet"> Revoke one to make another.</span>}
        </p>
      )}
      {(rules.length > 0 || limits.length > 0) && (
        <p class="quiet">
          {[
            rules.length > 0 ? `Keys of your own: ${rules.join(', ')}.` : '',
            limits.length > 0 ? `All keys of the team share ${limits.join(', ')}.` : '',
          ]
            .filter(Boolean)
            .join(' ')}
        </p>
      )}
    </>
  )
}

/** Members make no keys here: who can change that. */
function Closed({ team }: { readonly team: Team }) {
  const members = useApi('GET /ui/api/teams/{team_id}/members', {
    params: { team_id: team.team_id },
    query: { limit: 100 },
  })
  const admins = (members.data?.data ?? [])
    .filter(({ role }) => role === 'team_admin')
    .map(({ user_email, user_name, user_id }) => user_email ?? user_name ?? user_id)
  return (
    <p class="quiet">
      Members may not make their own keys here.{' '}
      {admins.length > 0
        ? `Ask ${admins.slice(0, 3).join(' or ')}, who can switch it on.`
        : 'An administrator of its organization can switch it on.'}
    </p>
  )
}
