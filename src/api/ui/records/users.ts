import * as z from 'zod'
import { mailbox } from '../../../config/fields.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { UserRecord } from '../../../stores/sql/records/user-records.ts'
import type { Route } from '../../route.ts'
import { idField, label, limitAnswer, limitFields, metadata, optional, recordAnswer } from './record-fields.ts'
import type { RecordKind } from './record-kind.ts'
import { changeRoute, createRoute, getRoute, listRoute, removeRoute } from './record-routes.ts'

const kind: RecordKind<UserRecord> = {
  path: '/ui/api/users',
  noun: 'user',
  id: 'user_id',
  level: 'user',
  permissions: { read: 'user.read', create: 'user.update', update: 'user.update', remove: 'user.update' },
  records: ({ records }) => records.users,
  settled: lazily(() => ({ user_id: idField('user') })),
  fields: lazily(() => ({
    user_email: optional(mailbox()).describe('For display and search; people sign in by that of their account.'),
    user_name: label('What people call them.'),
    user_role: label('For display; it gives no right.'),
    ...limitFields(),
    metadata: metadata(),
  })),
  filters: [],
  orders: ['name', 'created_at', 'spend'],
  answer: lazily(() =>
    z.object({
      user_id: z.string(),
      user_email: z.string().nullable(),
      user_name: z.string().nullable(),
      user_role: z.string().nullable(),
      ...limitAnswer(),
      ...recordAnswer(),
    }),
  ),
}

export const users: readonly Route[] = [
  listRoute(kind),
  createRoute(kind, { prefix: 'user' }),
  getRoute(kind),
  changeRoute(kind, 'patch'),
  changeRoute(kind, 'put'),
  removeRoute(kind, 'Removes a user that has no keys, from everywhere they are a member.'),
]
