import type { Drop } from '../../../modes/field-table.ts'

/** A temperature for a vendor whose range ends at 1; chat's is twice as wide. */
export function temperatureUpToOne(temperature: unknown, drop: Drop): unknown {
  if (typeof temperature !== 'number' || temperature <= 1) return temperature
  drop('temperature')
  return 1
}

/** A penalty for a vendor whose range is from 0 to 1; chat's is from -2 to 2. */
export function penaltyUpToOne(
  body: Readonly<Record<string, unknown>>,
  field: 'frequency_penalty' | 'presence_penalty',
  drop: Drop,
): unknown {
  const asked = body[field]
  if (typeof asked !== 'number' || (asked >= 0 && asked <= 1)) return asked
  drop(field)
  return asked < 0 ? undefined : 1
}

/** The stop sequences as a list of as many as a vendor takes. */
export function stopsUpTo(most: number, stop: unknown, drop: Drop): unknown {
  const list = typeof stop === 'string' ? [stop] : stop
  if (!Array.isArray(list) || list.length <= most) return list
  drop('stop')
  return list.slice(0, most)
}
