import { isSession } from '../../identity/session-caller.ts'
import type { GatewayError } from '../../lib/errors.ts'
import type { Caller } from '../../pipeline/caller.ts'
import type { AuditEvent } from '../../stores/sql/records/audit-records.ts'
import { auditRecorded } from '../../telemetry/audit.ts'
import { permissionsOf } from '../authenticate.ts'
import type { Exchange } from '../exchange.ts'
import type { RouteContract } from '../route.ts'
import type { ApiServices } from '../scope.ts'

/** Records a write of the administration by a known caller, and the events of accounts, refused ones included. Of unknown
 *  callers it records only what a handler tells of: a flood of requests without a credential would fill the database. */
export function audit(services: ApiServices, exchange: Exchange, status: number): void {
  const { contract, caller } = exchange
  if (!contract || !(contract.auth === 'admin' ? caller && writes(contract) : contract.action)) return
  if (!caller && (!exchange.audited || isTurnedAway(exchange.failure))) return
  const { c, requestId: request_id, address: ip } = exchange
  const request = { request_id, ip, user_agent: c.req.header('user-agent'), status }
  for (const details of [exchange.audited ?? {}, ...exchange.alsoAudited]) {
    const action = details.action ?? actionOf(contract)
    const resource_id = details.resource_id ?? Object.values(c.req.param()).join('/')
    const told = { ...actorOf(caller), ...details, action, resource_id, ...request }
    services.telemetry.emit(auditRecorded(services.clock.now(), told))
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
