import type { Quota } from '../stores/kv/shared-store.ts'
import { LIMIT_FIELDS, type LimitedScope, type LimitField } from './limited-scope.ts'

const COUNTED = {
  rpm_limit: { unit: 'requests', window: 'minute' },
  tpm_limit: { unit: 'tokens', window: 'minute' },
  rph_limit: { unit: 'requests', window: 'hour' },
  rpd_limit: { unit: 'requests', window: 'day' },
  tpd_limit: { unit: 'tokens', window: 'day' },
} as const satisfies Record<LimitField, Pick<Quota, 'unit' | 'window'>>

/** The limits of a caller, in the order in which they refuse. */
export function quotasOf(scopes: readonly LimitedScope[]): Quota[] {
  return scopes.flatMap((scope) =>
    LIMIT_FIELDS.flatMap((field) => {
      const limit = scope[field]
      if (limit === null) return []
      const dimension = field.slice(0, -'_limit'.length)
      return [{ scope: `${scope.level}_${dimension}`, subject: `${scope.level}:${scope.id}`, ...COUNTED[field], limit }]
    }),
  )
}
