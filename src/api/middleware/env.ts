import type { GatewayError } from '../../lib/errors.ts'
import type { Caller } from '../../pipeline/caller.ts'
import type { Client } from '../../pipeline/client.ts'
import type { AuditDetails } from '../../telemetry/audit.ts'
import type { RouteContract } from '../route.ts'

/** What the rim gives with a request, and what middleware leaves for the route. */
export interface Env {
  Bindings: { client: Client }
  Variables: {
    requestId: string
    arrivedAt: number
    contract: RouteContract | undefined
    /** What the path names, decoded. */
    params: Readonly<Record<string, string>> | undefined
    caller: Caller | undefined
    /** The client's own, where the request was authenticated. */
    address: string | undefined
    /** What the client is told about its limits, where the request was counted. */
    rateHeaders: Record<string, string> | undefined
    failure: GatewayError | undefined
    /** The handler reports the request by itself. */
    reported: boolean | undefined
    /** What the audit of a write has to tell beside what the request itself shows. */
    audited: AuditDetails | undefined
  }
}
