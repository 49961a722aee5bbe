import type { BatchFiles } from '../batch/files/batch-files.ts'
import type { AccountServices } from '../identity/accounts/account-services.ts'
import type { Identify } from '../identity/identify.ts'
import type { KeyCallers } from '../identity/key-callers.ts'
import type { Session } from '../identity/session-caller.ts'
import type { SessionClient } from '../identity/sessions/sessions.ts'
import type { Footprint, Footprints } from '../lib/footprints.ts'
import type { Seal } from '../lib/sealing/seal.ts'
import type { Outbox } from '../mail/outbox.ts'
import type { Caller } from '../pipeline/caller.ts'
import type { Client } from '../pipeline/client.ts'
import type { Foreground } from '../pipeline/foreground.ts'
import type { PipelineServices } from '../pipeline/services.ts'
import type { LiveRegistry } from '../routing/live/live-registry.ts'
import type { Blobs } from '../stores/blobs/blobs.ts'
import type { Queue } from '../stores/queue/queue.ts'
import type { SqlRecords } from '../stores/sql/records/index.ts'
import type { SpendLog } from '../stores/sql/spend/spend-log.ts'
import type { SpendReports } from '../stores/sql/spend/spend-reports.ts'
import type { Sql } from '../stores/sql/sql.ts'
import type { AuditDetails } from '../telemetry/audit.ts'
import type { TelemetryServices } from '../telemetry/telemetry-services.ts'
import type { RunningTools } from './mcp/running-tools.ts'
import type { Site } from './middleware/site.ts'
import type { ToResponse } from './respond.ts'

/** The services of the HTTP side, in addition to the pipeline's. */
export interface ApiServices extends PipelineServices, AccountServices, Omit<TelemetryServices, 'telemetry'> {
  readonly sql: Sql
  readonly blobs: Blobs
  readonly queue: Queue
  readonly identify: Identify
  readonly outbox: Outbox
  readonly files: BatchFiles
  readonly keyCallers: KeyCallers
  readonly footprints: Footprints
  readonly runningTools: RunningTools
  readonly foreground: Foreground
  readonly toResponse: ToResponse
  /** The hash that identifies a stored key. */
  readonly hashKey: (key: string) => string
  /** The client's own address, from its peer's and X-Forwarded-For. */
  readonly clientAddress: (peer: string, forwardedFor?: string) => string
  /** Keeps `registry` up to date with the database. */
  readonly live: LiveRegistry
  readonly records: SqlRecords
  readonly seal: Seal
  readonly spendReports: SpendReports
  readonly spendLog: SpendLog
  /** Whether the process is stopping. */
  readonly draining: () => boolean
  readonly host?: Host | undefined
  /** The page of the console, if it was built. */
  readonly consoleShell?: (() => string | undefined) | undefined
}

/** What the gateway runs on. */
export interface Host {
  /** Its name and version, for people. */
  readonly runtime: string
  /** The processes of this group; undefined where the platform starts them as needed. */
  readonly processes?: number
  /** Where the shared store is without a Redis. */
  readonly store?: 'in-process' | 'durable-object'
}

/** One request as its handler sees it. */
export interface Scope<Input = unknown> {
  readonly services: ApiServices
  readonly client: Client
  /** The memory that the request holds. */
  readonly footprint: Footprint
  readonly requestId: string
  /** `performance.now()` when the request arrived. */
  readonly arrivedAt: number
  /** The client asks for the head of the answer alone: a body would never be read. */
  readonly isHead: boolean
  /** A header of the request, by its name in lower case. */
  header(name: string): string | undefined
  /** The client's own address. */
  readonly address: string
  /** The caller; throws on a public route, which has none. */
  caller(): Caller
  /** The browser session of the request, if it has one. */
  session(): Session | undefined
  /** The client that uses or opens a session. */
  sessionClient(): SessionClient
  /** The gateway's own address, as the client's request names it. */
  site(): Site
  /** Counts the request against the limits of its caller, and throws where one is reached. The pipeline counts model
   *  calls. */
  count(): Promise<void>
  /** Declares that the handler reports this request itself. */
  reportsItself(): void
  /** Adds details to the audit event of this request. */
  audits(details: AuditDetails): void
  /** Adds another audit event to this request. */
  alsoAudits(action: string, details: AuditDetails): void
  readonly input: Input
}
