import { lookups } from '../../data/lookups.ts'
import type { Permission } from '../../data/session.ts'
import type { Filter } from '../../design/filters.tsx'

const yes = (label: string) => [{ value: 'true', label }]

const ENDINGS = [
  { value: 'answered', label: 'Answered' },
  { value: 'failed', label: 'Failed' },
  { value: 'truncated', label: 'Cut short' },
  { value: 'client_closed', label: 'Client left' },
]

const FILTERS: ReadonlyArray<Filter & { readonly needs?: Permission }> = [
  {
    name: 'ending',
    label: 'Ending',
    choices: ENDINGS,
  },
  { name: 'model', label: 'Model' },
  { name: 'deployment', label: 'Deployment' },
  { name: 'provider', label: 'Provider' },
  { name: 'key_id', label: 'Key', lookup: lookups.key, needs: 'key.read' },
  { name: 'team_id', label: 'Team', lookup: lookups.team, needs: 'team.read' },
  { name: 'organization_id', label: 'Organization', lookup: lookups.organization, needs: 'org.read' },
  { name: 'user_id', label: 'User', lookup: lookups.user, needs: 'user.read' },
  { name: 'tag', label: 'Tag' },
  { name: 'status', label: 'Status' },
  { name: 'error_type', label: 'Class of error' },
  { name: 'endpoint', label: 'Endpoint' },
  { name: 'failed_over', label: 'Failed over', choices: yes('yes') },
  { name: 'refused', label: 'Refused by the gateway', choices: yes('yes') },
  { name: 'unpriced', label: 'Without a price', choices: yes('yes') },
  {
    name: 'cache',
    label: 'Cache',
    choices: ['hit', 'miss', 'off'].map((value) => ({ value, label: value })),
  },
  { name: 'min_total_ms', label: 'At least so many ms' },
  { name: 'prompt', label: 'Prompt' },
  { name: 'batch_id', label: 'Batch' },
  { name: 'request_id', label: 'Request id' },
  { name: 'not_ending', label: 'Not ending', choices: ENDINGS },
  { name: 'not_error_type', label: 'Not class of error' },
  { name: 'not_model', label: 'Not model' },
  { name: 'not_deployment', label: 'Not deployment' },
  { name: 'not_provider', label: 'Not provider' },
  { name: 'not_key_id', label: 'Not key', lookup: lookups.key, needs: 'key.read' },
  { name: 'not_team_id', label: 'Not team', lookup: lookups.team, needs: 'team.read' },
  { name: 'not_user_id', label: 'Not user', lookup: lookups.user, needs: 'user.read' },
]

/** What the sums of the gateway can be asked for as well. */
const DIMENSIONS = ['key_id', 'user_id', 'team_id', 'organization_id', 'model', 'provider', 'deployment']
const SUMMED = [...DIMENSIONS, ...DIMENSIONS.map((name) => `not_${name}`), 'tag', 'owner']

/** Those whose names the person may look up; others are given as they are. */
export const filtersFor = (may: (permission: Permission) => boolean): readonly Filter[] =>
  FILTERS.map(({ needs, lookup, ...filter }) => (lookup && (!needs || may(needs)) ? { ...filter, lookup } : filter))

export const isSummed = (query: Readonly<Record<string, string>>): boolean =>
  Object.keys(query).every((name) => SUMMED.includes(name))
