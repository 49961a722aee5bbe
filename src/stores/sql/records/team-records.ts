import { type Selectable, sql } from 'kysely'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { SCOPE_COLUMNS, type ScopeRecords, scopeRecords, type Within } from './scope-records.ts'

export type TeamRecord = Omit<Selectable<Schema['gateway_team']>, 'target_mode'>
export type TeamRecords = ScopeRecords<TeamRecord>

export function teamRecords(database: Sql): TeamRecords {
  return scopeRecords<TeamRecord>(database, {
    table: 'gateway_team',
    id: 'team_id',
    scopeType: 'team',
    level: 'team',
    columns: [
      'team_id',
      'team_name',
      'organization_id',
      'model_max_budget',
      'self_service_keys_enabled',
      'self_service_max_keys_per_user',
      'self_service_budget_ceiling',
      'self_service_require_expiry',
      'self_service_max_expiry_days',
      'turn_off_message_logging',
      ...SCOPE_COLUMNS,
    ],
    name: 'team_name',
    searched: ['team_id', 'team_name'],
    within: withinTeam,
  })
}

/** Whether a row that has a team and an organization lies in one of the reach's. */
export const withinTeam: Within = ({ organizations, teams }) =>
  sql`(record.team_id = ${teams} OR record.organization_id = ${organizations})`
