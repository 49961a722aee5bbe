import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import type { OrganizationRecord } from '../../../stores/sql/records/organization-records.ts'
import type { Route } from '../../route.ts'
import { memberRoutes } from './members.ts'
import { idField, label, limitAnswer, limitFields, metadata, recordAnswer } from './record-fields.ts'
import type { RecordKind } from './record-kind.ts'
import { changeRoute, createRoute, getRoute, listRoute, removeRoute } from './record-routes.ts'

const kind: RecordKind<OrganizationRecord> = {
  path: '/ui/api/organizations',
  noun: 'organization',
  id: 'organization_id',
  level: 'org',
  permissions: { read: 'org.read', create: 'platform.admin', update: 'org.update', remove: 'platform.admin' },
  records: ({ records }) => records.organizations,
  settled: lazily(() => ({ organization_id: idField('organization') })),
  fields: lazily(() => ({ organization_name: label('What people call it.'), ...limitFields(), metadata: metadata() })),
  filters: [],
  orders: ['name', 'created_at', 'spend'],
  facts: ({ records }, rows) => records.facts.ofOrganizations(rows),
  answer: lazily(() =>
    z.object({
      organization_id: z.string(),
      organization_name: z.string().nullable(),
      team_count: z.int(),
      member_count: z.int(),
      key_count: z.int().describe('The keys in it that are neither revoked nor expired.'),
      ...limitAnswer(),
      ...recordAnswer(),
    }),
  ),
}

export const organizations: readonly Route[] = [
  listRoute(kind),
  createRoute(kind, { prefix: 'org' }),
  getRoute(kind),
  changeRoute(kind, 'patch'),
  changeRoute(kind, 'put'),
  removeRoute(kind, 'Removes an organization that has no teams and no keys.'),
  ...memberRoutes(kind, 'organization'),
]
