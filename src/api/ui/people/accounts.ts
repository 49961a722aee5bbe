import * as z from 'zod'
import { accepted } from '../../../config/accepted.ts'
import { mailbox } from '../../../config/fields.ts'
import { reachOf } from '../../../identity/grants.ts'
import { PLATFORM_ROLES } from '../../../identity/roles.ts'
import { accountRecord } from '../../../identity/sessions/session-of.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import { authKey } from '../../../stores/kv/keys.ts'
import type { AdministeredAccount, OwnedKey } from '../../../stores/sql/people/administered-accounts.ts'
import { brokenForeignKey } from '../../../stores/sql/records/foreign-key.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { isStorable, storable } from '../../storable.ts'
import { changesBetween } from '../audit/changes-between.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { fieldsOf } from '../records/record-answer.ts'
import { changeAnswer, changeAnswers } from '../records/record-changed.ts'

const PATH = '/ui/api/accounts'
const STATES = ['active', 'disabled'] as const

const time = () => z.iso.datetime().nullable()
const answer = lazily(() =>
  z.object({
    account_id: z.string(),
    user_id: z.string().describe('The user to which limits, budgets and memberships belong.'),
    email: z.string(),
    email_proved: z
      .boolean()
      .describe('The address is proved, by e-mail or an administrator, so that single sign-on may link it.'),
    user_name: z.string().nullable(),
    max_budget: z.number().nullable().describe('Of the user, with all keys.'),
    budget_duration: z.string().nullable(),
    spend: z.number().describe('Of the user, in the current period of the budget, in US dollars.'),
    platform_role: z.enum(PLATFORM_ROLES),
    state: z.enum(STATES),
    has_password: z.boolean(),
    identities: z.array(z.string()).describe('The identity providers that are linked to the account.'),
    mfa_enabled: z.boolean(),
    must_change_password: z.boolean(),
    memberships: z.array(
      z.object({
        scope: z.enum(['organization', 'team']),
        id: z.string(),
        name: z.string().nullable(),
        role: z.string(),
        organization_id: z.string().nullable().describe('The organization itself, or that of the team.'),
      }),
    ),
    last_login_at: time(),
    password_changed_at: time(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
)

const list = defineRoute(
  {
    method: 'get',
    path: PATH,
    summary: 'The accounts of people, by id.',
    tag: 'Accounts',
    auth: 'admin',
    permission: 'user.read',
    scoped: true,
    query: () =>
      z.object({
        search: storable().max(256).default('').describe('Part of the address, the name or the id.'),
        state: z.enum(STATES).optional(),
        platform_role: z.enum(PLATFORM_ROLES).optional(),
        mfa_enabled: z.enum(['true', 'false']).optional(),
        organization_id: storable().max(1024).optional().describe('Its members, and those of its teams.'),
        team_id: storable().max(1024).optional(),
        ...paging(),
      }),
    responses: { 200: pageAnswer(answer) },
  },
  async (scope) => {
    const { mfa_enabled, limit, ...query } = scope.input.query
    const rows = await scope.services.records.administeredAccounts.page({
      ...query,
      reach: reachOf(scope.caller(), 'user.read'),
      limit: limit + 1,
      mfa_enabled: mfa_enabled === undefined ? undefined : mfa_enabled === 'true',
    })
    const { data, next_cursor } = pageOf(rows, limit, ({ account_id }) => account_id)
    return json({ data: data.map(shown), next_cursor })
  },
)

const one = {
  path: `${PATH}/{account_id}`,
  tag: 'Accounts',
  auth: 'admin',
  params: () => z.object({ account_id: z.string() }),
} as const

const get = defineRoute(
  {
    ...one,
    method: 'get',
    summary: 'One account.',
    permission: 'user.read',
    scoped: true,
    responses: { 200: { description: 'The account.', schema: answer } },
  },
  async (scope) => json(shown(await present(scope, idOf(scope.input.params)))),
)

const change = lazily(() =>
  z.strictObject({
    email: mailbox()
      .optional()
      .describe('By which the person signs in. Another one is not proved, and ends links to a new password.'),
    platform_role: z.enum(PLATFORM_ROLES).optional(),
    state: z.enum(STATES).optional().describe('disabled: sign-in and the keys that it owns are refused.'),
    email_proved: z.boolean().optional().describe('Whether single sign-on may link a person of this address.'),
    must_change_password: z.boolean().optional().describe('Whether it is required next.'),
  }),
)

const patch = defineRoute(
  {
    ...one,
    method: 'patch',
    summary: 'Changes an account. A new role or state ends its sessions.',
    permission: 'platform.admin',
    json: change,
    responses: changeAnswers(200, { description: 'The account.', schema: answer }),
  },
  async (scope) => {
    const { records, store } = scope.services
    const id = idOf(scope.input.params)
    const wanted = accepted(change(), scope.input.json)
    const changed = await records.administeredAccounts.change(id, wanted)
    if (changed === undefined) throw absent()
    if (changed === 'last_admin') throw lastAdmin()
    if (changed === 'address_taken')
      throw new GatewayError('conflict', 'Another account has this address.', { param: 'email', code: 'address_taken' })
    const { account, before, keys } = changed
    const everywhere = await store.publish(changeOf({ account_id: id, version: account.version }, keys))
    scope.audits({ changes: changesBetween({ ...before }, { ...account }, Object.keys(before)) })
    return changeAnswer(everywhere, shown(await present(scope, id)))
  },
)

const remove = defineRoute(
  {
    ...one,
    method: 'delete',
    summary:
      'Removes an account, its sessions and memberships, revokes the keys that it owns, and cancels invitations to its address.',
    permission: 'platform.admin',
    responses: changeAnswers(200, { description: 'As it was.', schema: answer }),
  },
  async (scope) => {
    const { records, store } = scope.services
    const id = idOf(scope.input.params)
    const account = await present(scope, id)
    const removed = await records.administeredAccounts.remove(id)
    if (removed === undefined) throw absent()
    if (removed === 'last_admin') throw lastAdmin()
    const everywhere = await store.publish(changeOf({ account_id: id, version: removed.version }, removed.keys))
    try {
      await records.users.remove(account.user_id, 'everything')
    } catch (error) {
      // A user with keys stays: their spend is reported by user.
      if (!brokenForeignKey(error)) throw error
    }
    return changeAnswer(everywhere, shown(account))
  },
)

const endSessions = defineRoute(
  {
    ...one,
    path: `${one.path}/end-sessions`,
    method: 'post',
    action: 'account.end_sessions',
    summary: 'Ends all sessions of an account at once.',
    permission: 'platform.admin',
    responses: {
      200: {
        description: 'The number of ended sessions.',
        schema: () => z.object({ account_id: z.string(), ended: z.int() }),
      },
    },
  },
  async (scope) => {
    const { account_id } = await present(scope, idOf(scope.input.params))
    const ended = await scope.services.sessions.endAll(account_id)
    scope.audits({ metadata: { ended } })
    return json({ account_id, ended })
  },
)

export const accounts: readonly Route[] = [list, get, patch, remove, endSessions]

function idOf({ account_id }: { readonly account_id: string }): string {
  if (!isStorable(account_id)) throw absent()
  return account_id
}

async function present(scope: Scope, id: string): Promise<AdministeredAccount> {
  const account = await scope.services.records.administeredAccounts.find(id, reachOf(scope.caller(), 'user.read'))
  if (!account) throw absent()
  return account
}

const shown = (account: AdministeredAccount) => fieldsOf(answer(), account)

/** What to publish after a change of an account: its version, and those of the keys that it owns. */
function changeOf(account: { readonly account_id: string; readonly version: string }, keys: readonly OwnedKey[]) {
  return {
    records: [
      { record: accountRecord(account.account_id), version: Number(account.version) },
      ...keys.map(({ key_id, version }) => ({ record: `key:${key_id}`, version })),
    ],
    removed: keys.map(({ key_hash }) => authKey(key_hash)),
  }
}

function absent(): GatewayError {
  return new GatewayError('not_found', 'There is no such account.', { param: 'account_id' })
}

function lastAdmin(): GatewayError {
  return new GatewayError(
    'conflict',
    'This is the last active administrator of the platform. Make another one first.',
    {
      param: 'account_id',
      code: 'last_platform_admin',
    },
  )
}
