import { joinBytes } from '../../lib/bytes/bytes.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { dropper, type Outgoing } from '../../providers/provider.ts'
import type { Deployment } from '../../routing/deployment.ts'
import { type Capped, type Dialect, OUTPUT_LIMITS } from '../translate/dialect.ts'

/** The request with no larger limit of output tokens than the deployment's model has: its vendor would refuse it. The
 *  client learns that its own was left out. */
export function withCappedLimit(outgoing: Outgoing, { info }: Deployment, dialect: Dialect | undefined): Outgoing {
  const { max_output_tokens: most } = info
  if (most === undefined || outgoing.form) return outgoing
  const { body, bytes } = outgoing
  const lowered = dialect?.capped
    ? [dialect.capped(body, most)]
    : OUTPUT_LIMITS.map((field) => capped(body, field, most))
  const found = lowered.filter((one) => one !== undefined)
  if (found.length === 0) return outgoing
  const drop = dropper(outgoing)
  for (const { field } of found) drop(field)
  const changes = Object.assign({}, ...found.map((one) => one.changes)) as Record<string, unknown>
  return { ...outgoing, body: { ...body, ...changes }, bytes: joinBytes(editJson(bytes, body, changes)) }
}

function capped(body: ModelRequest, field: (typeof OUTPUT_LIMITS)[number], most: number): Capped | undefined {
  const asked = body[field]
  return typeof asked === 'number' && asked > most ? { field, changes: { [field]: most } } : undefined
}
