import { GatewayError } from '../../lib/errors.ts'
import type { NamedId } from '../ids/named-ids.ts'

const WHY =
  'It has expired, was deleted, was never kept (with `store: false`, where content may not be logged, or where it is too long), or is not yours.'

/** The refusal of an id that names nothing which the gateway keeps. */
export function notKept({ id, param, kind }: Pick<NamedId, 'id' | 'param' | 'kind'>): GatewayError {
  const what = kind === 'item' ? 'Item' : 'Previous response'
  const code = `${kind}_not_found`
  return new GatewayError('not_found', `${what} with id '${id.slice(0, 100)}' not found. ${WHY}`, { param, code })
}
