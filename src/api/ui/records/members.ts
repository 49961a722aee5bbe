import * as z from 'zod'
import { recordName } from '../../../identity/caller-of.ts'
import { grantableRoles, roleAbove } from '../../../identity/granting.ts'
import { ownerOf } from '../../../identity/grants.ts'
import type { Permission } from '../../../identity/permissions.ts'
import { ROLES } from '../../../identity/roles.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { MembershipScope } from '../../../stores/sql/records/membership-records.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { isStorable, storable } from '../../storable.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { changeAnswer, changeAnswers, changeHolds } from './record-changed.ts'
import { absent, type RecordKind, referring, type ScopeRow, unknownReference } from './record-kind.ts'
import { auditsOf, reach, refused } from './record-reach.ts'
import { idOf, oneOf } from './record-routes.ts'

/** The members of the organizations or teams: users, each with a role. */
export function memberRoutes<Row extends ScopeRow>(kind: RecordKind<Row>, scopeType: MembershipScope): Route[] {
  const role = lazily(() => z.enum(ROLES[scopeType]))
  const answer = lazily(() =>
    z.object({
      user_id: z.string(),
      role: role(),
      user_email: z.string().nullable(),
      user_name: z.string().nullable(),
      created_at: z.iso.datetime(),
    }),
  )
  const ended = lazily(() =>
    answer().extend({
      left_teams: z.array(z.string()).describe('Teams of the organization that were left with it.'),
      revoked_keys: z.array(z.string()).describe('The keys that the member owned there.'),
      cancelled_invitations: z.array(z.string()).describe('Invitations of the member to there that were pending.'),
    }),
  )
  const one = { ...oneOf(kind), path: `${kind.path}/{${kind.id}}/members` } as const
  const { read, update } = kind.permissions

  /** The id of the path. Throws unless the caller has the permission in that organization or team. */
  async function parent(scope: Scope, permission: Permission): Promise<string> {
    const id = idOf(kind, scope)
    const row = await kind.records(scope.services).find(id, reach(scope, permission))
    if (!row) throw await refused(scope, kind, id, permission)
    auditsOf(scope, row)
    return id
  }

  const list = defineRoute(
    {
      ...one,
      method: 'get',
      summary: `The members of the ${kind.noun}, by user.`,
      permission: read,
      query: () => z.object(paging()),
      responses: { 200: pageAnswer(answer) },
    },
    async (scope) => {
      const id = await parent(scope, read)
      const { cursor, limit } = scope.input.query
      const rows = await scope.services.records.memberships.page(scopeType, id, { cursor, limit: limit + 1 })
      return json(pageOf(rows, limit, ({ user_id }) => user_id))
    },
  )

  const put = defineRoute(
    {
      ...one,
      method: 'post',
      summary: `Makes a user a member of the ${kind.noun}, or gives a member another role.`,
      permission: update,
      json: () => z.strictObject({ user_id: storable().min(1).max(1024), role: role() }),
      responses: {
        ...changeAnswers(200, { description: 'The user was a member already.', schema: answer }),
        201: { description: 'The new member.', schema: answer },
      },
    },
    async (scope) => {
      const id = await parent(scope, update)
      const { records } = scope.services
      // Naming any user would reveal which users exist.
      const visible = reach(scope, update)
      if (visible !== 'everything' && !(await records.users.find(scope.input.json.user_id, visible))) {
        throw unknownReference('user_id')
      }
      const roles = grantableRoles(scope.caller(), scopeType, id)
      if (!roles.includes(scope.input.json.role)) throw roleAbove()
      const member = await referring(records.memberships.put(scopeType, id, scope.input.json, roles))
      if (!member) throw absent(kind)
      if (member === 'above') throw roleAbove()
      const { record, before, userVersion } = member
      const everywhere = await changeHolds(scope.services, {
        record: recordName('user', record.user_id),
        version: userVersion,
      })
      scope.audits({
        resource_id: `${id}/${record.user_id}`,
        changes: { role: { old: before.role, new: record.role } },
      })
      return changeAnswer(everywhere, record, before.role === null ? 201 : 200)
    },
  )

  const remove = defineRoute(
    {
      ...one,
      path: `${one.path}/{user_id}`,
      params: () => z.object({ [kind.id]: z.string(), user_id: z.string() }),
      method: 'delete',
      summary: `Ends a membership in the ${kind.noun}, revokes the keys that the member owns there, and cancels invitations to there. Members may leave.`,
      permission: update,
      responses: changeAnswers(200, { description: 'As it was.', schema: ended }),
    },
    async (scope) => {
      const { services, caller } = scope
      const user = String(scope.input.params.user_id)
      const isOwn = ownerOf(caller())?.userId === user
      const id = await parent(scope, isOwn ? read : update)
      const roles = isOwn ? ROLES[scopeType] : grantableRoles(caller(), scopeType, id)
      const membership = isStorable(user)
        ? await services.records.memberships.remove(scopeType, id, user, roles)
        : undefined
      if (!membership) throw absent({ noun: 'member', id: 'user_id' })
      if (membership === 'above') throw roleAbove('user_id')
      const { record, userVersion, teams, keys, invitations } = membership
      const everywhere = await changeHolds(services, {
        record: recordName('user', user),
        version: userVersion,
        revoked: keys,
      })
      const left = {
        left_teams: teams,
        revoked_keys: keys.map(({ key_id }) => key_id),
        cancelled_invitations: invitations,
      }
      scope.audits({ changes: { role: { old: record.role, new: null } }, metadata: left })
      return changeAnswer(everywhere, { ...record, ...left })
    },
  )

  return [list, put, remove]
}
