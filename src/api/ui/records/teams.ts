import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import type { TeamRecord } from '../../../stores/sql/records/team-records.ts'
import type { Route } from '../../route.ts'
import { memberRoutes } from './members.ts'
import {
  countOf,
  dollars,
  flag,
  idField,
  label,
  limitAnswer,
  limitFields,
  metadata,
  modelBudgets,
  recordAnswer,
  reference,
} from './record-fields.ts'
import type { RecordKind } from './record-kind.ts'
import { changeRoute, createRoute, getRoute, listRoute, removeRoute } from './record-routes.ts'

const kind: RecordKind<TeamRecord> = {
  path: '/ui/api/teams',
  noun: 'team',
  id: 'team_id',
  level: 'team',
  permissions: { read: 'team.read', create: 'team.update', update: 'team.update', remove: 'team.update' },
  records: ({ records }) => records.teams,
  settled: lazily(() => ({
    team_id: idField('team'),
    organization_id: reference('The organization that it belongs to.'),
  })),
  fields: lazily(() => ({
    team_name: label('What people call it.'),
    ...limitFields(),
    model_max_budget: modelBudgets(),
    self_service_keys_enabled: flag('Whether members may create their own keys.'),
    self_service_max_keys_per_user: countOf('Keys that one member may own here', 2_147_483_647),
    self_service_budget_ceiling: dollars('The largest budget of such a key'),
    self_service_require_expiry: flag('Whether such a key must expire.'),
    self_service_max_expiry_days: countOf('Days that such a key may live', 36_500),
    turn_off_message_logging: flag('Whether the content of its calls is kept out of every sink.'),
    metadata: metadata(),
  })),
  filters: ['organization_id'],
  orders: ['name', 'created_at', 'spend'],
  facts: ({ records }, rows) => records.facts.ofTeams(rows),
  answer: lazily(() =>
    z.object({
      team_id: z.string(),
      team_name: z.string().nullable(),
      organization_id: z.string().nullable(),
      organization_name: z.string().nullable(),
      member_count: z.int(),
      key_count: z.int().describe('Its keys that are neither revoked nor expired.'),
      ...limitAnswer(),
      model_max_budget: z.record(z.string(), z.number()),
      self_service_keys_enabled: z.boolean(),
      self_service_max_keys_per_user: z.int().nullable(),
      self_service_budget_ceiling: z.number().nullable(),
      self_service_require_expiry: z.boolean(),
      self_service_max_expiry_days: z.int().nullable(),
      turn_off_message_logging: z.boolean(),
      ...recordAnswer(),
    }),
  ),
}

export const teams: readonly Route[] = [
  listRoute(kind),
  createRoute(kind, { prefix: 'team', owner: 'organization_id' }),
  getRoute(kind),
  changeRoute(kind, 'patch'),
  changeRoute(kind, 'put'),
  removeRoute(kind, 'Removes a team that has no keys.'),
  ...memberRoutes(kind, 'team'),
]
