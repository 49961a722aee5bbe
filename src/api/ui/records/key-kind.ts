import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import { CALLER_KINDS } from '../../../stores/sql/records/caller-records.ts'
import { KEY_STATES, type KeyRecord, type KeyState } from '../../../stores/sql/records/key-records.ts'
import { moment } from '../moment.ts'
import { effectiveLimits, effectiveLimitsOf } from './effective-limits.ts'
import {
  countOf,
  type Fields,
  flag,
  idField,
  label,
  limitAnswer,
  limitFields,
  metadata,
  modelBudgets,
  optional,
  recordAnswer,
  reference,
} from './record-fields.ts'
import { type RecordKind, unknownReference } from './record-kind.ts'

const address = () =>
  z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
    error: 'must be an IP address, or a range such as 10.0.0.0/8',
  })

/** Keys of callers, as the admin API serves them. */
export const keyKind: RecordKind<KeyRecord> = {
  path: '/ui/api/keys',
  noun: 'key',
  id: 'key_id',
  level: 'key',
  permissions: { read: 'key.read', create: 'key.update', update: 'key.update', remove: 'key.revoke' },
  records: ({ records }) => records.keys,
  settled: lazily(() => ({
    // Batches name their owner by key id, and the master key by its kind: those of a key with such an id would run as
    // the master key.
    key_id: idField('key', CALLER_KINDS),
    team_id: reference('The team that it belongs to.'),
    organization_id: reference('The organization that it belongs to: that of its team, where it has one.'),
  })),
  fields: lazily(() => ({
    key_name: label('What people call it.'),
    user_id: reference('The user whose limits and budget it counts against, too.'),
    ...limitFields(),
    max_parallel_requests: countOf('Calls that may run at once'),
    model_max_budget: modelBudgets(),
    allowed_ips: optional(z.array(address()).max(200)).describe('The addresses from which it may be used; null: any.'),
    turn_off_message_logging: flag('Whether the content of its calls is kept out of every sink.'),
    no_log_allowed: flag('Whether a request may ask for that by `x-gateway-no-log: 1`; default: it may.'),
    expires_at: optional(moment()).describe('When it expires; null: never.'),
    metadata: metadata(),
  })),
  async mayRefer({ records }, visible, { user_id: user }) {
    if (typeof user !== 'string') return
    if (!(await records.users.find(user, visible))) throw unknownReference('user_id')
  },
  ownersFields: ['key_name'],
  filters: ['team_id', 'organization_id', 'user_id'],
  asked: lazily(() => ({
    state: z.enum(KEY_STATES).optional().describe('Only keys in this state.'),
    ends_before: moment().optional().describe('Only keys that expire, and do so before this time.'),
  })),
  orders: ['name', 'created_at', 'spend', 'last_used_at'],
  facts: ({ records }, rows) => records.facts.ofKeys(rows),
  derived: (record, now) => ({ state: stateOf(record, now), effective_limits: effectiveLimitsOf(record) }),
  answer: lazily(() =>
    z.object({
      key_id: z.string(),
      key_name: z.string().nullable(),
      team_id: z.string().nullable(),
      team_name: z.string().nullable(),
      organization_id: z.string().nullable(),
      organization_name: z.string().nullable(),
      user_id: z.string().nullable(),
      user_name: z.string().nullable().describe("The user's name, or their address."),
      owner_account_id: z.string().nullable(),
      owner_email: z.string().nullable(),
      state: z
        .enum(KEY_STATES)
        .describe(
          'What decides about its calls, the weightiest; owner_disabled: the account of its owner is not active.',
        ),
      last_used_at: z.iso
        .datetime()
        .nullable()
        .describe('When its last call ended, accurate to a minute; null: it was never used.'),
      ...limitAnswer(),
      effective_limits: effectiveLimits(),
      model_max_budget: z.record(z.string(), z.number()),
      max_parallel_requests: z.number().nullable(),
      allowed_ips: z.array(z.string()).nullable(),
      turn_off_message_logging: z.boolean(),
      no_log_allowed: z.boolean(),
      expires_at: z.iso.datetime().nullable(),
      revoked_at: z.iso.datetime().nullable(),
      ...recordAnswer(),
    }),
  ),
}

function stateOf(key: Fields, now: number): KeyState {
  const { revoked_at: revoked, expires_at: expires, owner_disabled: disabled, max_budget: budget, spend } = key
  if (revoked !== null) return 'revoked'
  if (typeof expires === 'string' && Date.parse(expires) <= now) return 'expired'
  if (disabled) return 'owner_disabled'
  return budget !== null && Number(spend) >= Number(budget) ? 'over_budget' : 'active'
}
