import { isSession } from '../../identity/session-caller.ts'
import type { GatewayError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { Caller } from '../../pipeline/caller.ts'
import type { AuditEvent } from '../../stores/sql/records/audit-records.ts'
import { storableText } from '../../stores/sql/storable-text.ts'
import type { AuditDetails } from '../../telemetry/audit.ts'
import { permissionsOf } from '../authenticate.ts'
import type { Exchange } from '../exchange.ts'
import type { RouteContract } from '../route.ts'
import type { ApiServices } from '../scope.ts'

const LONGEST_CHANGES = 16_384

/** Records a write of the administration by a known caller, and the events of accounts, refused ones included. Of unknown
 *  callers it records only what a handler tells of: a flood of requests without a credential would fill the database. */
export function audit(services: ApiServices, exchange: Exchange, status: number): void {
  const { contract, caller } = exchange
  if (!contract || !(contract.auth === 'admin' ? caller && writes(contract) : contract.action)) return
  if (!caller && (!exchange.audited || isTurnedAway(exchange.failure))) return
  for (const details of [exchange.audited ?? {}, ...exchange.alsoAudited]) {
    const event = eventOf(services, exchange, details.action ?? actionOf(contract), details, status)
    services.telemetry.emit({ type: 'audit.recorded', at: event.occurred_at, event })
  }
}

function eventOf(
  services: ApiServices,
  { c, caller, requestId, address }: Exchange,
  action: string,
  details: AuditDetails,
  status: number,
): AuditEvent {
  const { resource_id, organization_id = null, changes = {}, metadata = {}, ...actor } = details
  return {
    event_id: newId('audit'),
    occurred_at: new Date(services.clock.now()).toISOString(),
    ...actorOf(caller),
    ...actor,
    organization_id,
    action,
    resource_type: action.slice(0, action.indexOf('.')),
    resource_id: storableText(resource_id ?? Object.values(c.req.param()).join('/')),
    request_id: requestId,
    ip: storableText(address),
    user_agent: storableText(c.req.header('user-agent')),
    status,
    changes: shortened(changes),
    metadata,
  }
}

/** Refused before anything was checked, by a limit of attempts. */
function isTurnedAway(failure: GatewayError | undefined): boolean {
  return failure?.failure === 'rate_limited' || failure?.failure === 'overloaded'
}

export function actorOf(caller: Caller | undefined): Pick<AuditEvent, 'actor_type' | 'actor_id'> {
  if (!caller) return { actor_type: 'anonymous', actor_id: null }
  if (!isSession(caller)) return { actor_type: caller.kind, actor_id: caller.keyId ?? null }
  const { account } = caller.session
  return account ? { actor_type: 'account', actor_id: account.accountId } : { actor_type: 'master_key', actor_id: null }
}

/** A route that needs only a read permission changes nothing, whatever its method. */
export function writes(contract: RouteContract): boolean {
  return contract.auth === 'admin' && contract.method !== 'get' && !permissionsOf(contract)[0].endsWith('.read')
}

const VERBS = { post: 'create', put: 'update', patch: 'update', delete: 'delete', get: 'read' } as const

/** The contract's own action, or one from method and path: `PATCH /ui/api/teams/{team_id}` is `team.update`. */
export function actionOf({ action, method, path }: Pick<RouteContract, 'action' | 'method' | 'path'>): string {
  if (action !== undefined) return action
  const collections = path.split('/').filter((segment) => segment !== '' && !segment.startsWith('{'))
  const nouns = collections.slice(collections.indexOf('api') + 1).map(singular)
  return `${nouns.join('_').replaceAll('-', '_')}.${VERBS[method]}`
}

function singular(noun: string): string {
  return noun.replace(/ies$/, 'y').replace(/([^s])s$/, '$1')
}

/** Changes that are too long to keep are reduced to the names of their fields. */
function shortened(changes: AuditEvent['changes']): AuditEvent['changes'] {
  if (JSON.stringify(changes).length <= LONGEST_CHANGES) return changes
  return Object.fromEntries(Object.keys(changes).map((name) => [name, { old: '…', new: '…' }]))
}
