import { GatewayError } from '../../lib/errors.ts'

const DAY_SECONDS = 86_400
const SHORTEST_SECONDS = 3600

/** What the fields of an upload ask for. Throws for what no upload may ask; unknown fields are ignored. */
export function uploadFields(
  fields: ReadonlyMap<string, string>,
  retentionDays: number,
): { readonly purpose: 'batch' | undefined; readonly retentionSeconds: number } {
  const purpose = fields.get('purpose')
  if (purpose !== undefined && purpose !== 'batch') throw invalid('purpose', "must be 'batch'")
  return { purpose, retentionSeconds: retentionOf(fields, retentionDays * DAY_SECONDS) }
}

export function missingPurpose(): GatewayError {
  return invalid('purpose', "is missing; it must be 'batch'")
}

const ANCHOR = 'expires_after[anchor]'
const SECONDS = 'expires_after[seconds]'

/** A file may expire earlier than the setting says, not later. */
function retentionOf(fields: ReadonlyMap<string, string>, most: number): number {
  const anchor = fields.get(ANCHOR)
  if (anchor !== undefined && anchor !== 'created_at') throw invalid(ANCHOR, "must be 'created_at'")
  const text = fields.get(SECONDS)
  if (text === undefined) return most
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
  if (seconds >= SHORTEST_SECONDS && seconds <= most) return seconds
  throw invalid(SECONDS, `must be a whole number from ${SHORTEST_SECONDS} to ${most}`)
}

function invalid(field: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `'${field}' ${problem}.`, { param: field })
}
