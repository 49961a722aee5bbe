import * as z from 'zod'
import { LIMIT_FIELDS, type LimitField } from '../../../limits/limited-scope.ts'
import type { Fields } from './record-fields.ts'

const WHOSE = { key: 'key', team: 'team', organization: 'organization', person: 'user' } as const

/** How many windows of each limit a day has. */
const PER_DAY: Readonly<Record<LimitField, number>> = {
  rpm_limit: 1440,
  rph_limit: 24,
  rpd_limit: 1,
  tpm_limit: 1440,
  tpd_limit: 1,
}

export const effectiveLimits = () =>
  z
    .array(z.object({ name: z.enum(LIMIT_FIELDS), limit: z.number(), of: z.enum(Object.values(WHOSE)) }))
    .describe(
      'What holds of each limit, and whose it is: the smallest of the key, its team, its organization and its user. Those of requests first, then by what they allow in a day.',
    )

/** The smallest of each limit that a key has or its team, its organization or its user. */
export function effectiveLimitsOf(key: Fields): z.output<ReturnType<typeof effectiveLimits>> {
  const wider = (key.wider_limits ?? {}) as Readonly<Record<string, unknown>>
  const found = LIMIT_FIELDS.flatMap((name) => {
    const set = Object.entries(WHOSE).flatMap(([place, of]) => {
      const limit = place === 'key' ? key[name] : wider[`${place}.${name}`]
      return limit === null || limit === undefined ? [] : [{ name, limit: Number(limit), of }]
    })
    return set.toSorted((one, other) => one.limit - other.limit).slice(0, 1)
  })
  const isTokens = ({ name }: { readonly name: LimitField }) => Number(name.startsWith('t'))
  const inDay = ({ name, limit }: { readonly name: LimitField; readonly limit: number }) => limit * PER_DAY[name]
  return found.toSorted((one, other) => isTokens(one) - isTokens(other) || inDay(one) - inDay(other))
}
