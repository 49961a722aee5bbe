import { type Selectable, sql } from 'kysely'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { SCOPE_COLUMNS, type ScopeRecords, scopeRecords, type Within } from './scope-records.ts'

export type OrganizationRecord = Omit<Selectable<Schema['gateway_organization']>, 'target_mode'>
export type OrganizationRecords = ScopeRecords<OrganizationRecord>

export function organizationRecords(database: Sql): OrganizationRecords {
  return scopeRecords<OrganizationRecord>(database, {
    table: 'gateway_organization',
    id: 'organization_id',
    scopeType: 'organization',
    level: 'org',
    columns: ['organization_id', 'organization_name', ...SCOPE_COLUMNS],
    name: 'organization_name',
    searched: ['organization_id', 'organization_name'],
    within: withinOrganization,
  })
}

export const withinOrganization: Within = ({ organizations }) => sql`record.organization_id = ${organizations}`
