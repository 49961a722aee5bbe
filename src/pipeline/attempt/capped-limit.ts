import { joinBytes } from '../../lib/bytes/bytes.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { dropper, type Outgoing } from '../../providers/provider.ts'
import type { Deployment } from '../../routing/deployment.ts'

const LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const

/** The request with no larger limit of output tokens than the deployment's model has: its vendor would refuse it. The
 *  client learns that its own was left out. */
export function withCappedLimit(outgoing: Outgoing, { info }: Deployment): Outgoing {
  const { max_output_tokens: most } = info
  if (most === undefined || outgoing.form) return outgoing
  const { body, bytes } = outgoing
  let changes: Record<string, number> | undefined
  for (const field of LIMITS) {
    const asked = body[field]
    if (typeof asked !== 'number' || asked <= most) continue
    changes ??= {}
    changes[field] = most
    dropper(outgoing)(field)
  }
  if (!changes) return outgoing
  return { ...outgoing, body: { ...body, ...changes }, bytes: joinBytes(editJson(bytes, body, changes)) }
}
