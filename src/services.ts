import { runningTools } from './api/mcp/running-tools.ts'
import { clientAddress } from './api/middleware/client-address.ts'
import { type ToResponse, toResponse } from './api/respond.ts'
import type { ApiServices, Host } from './api/scope.ts'
import { batchedEndpoints } from './api/v1/batched-endpoints.ts'
import { batchFiles } from './batch/files/batch-files.ts'
import type { RunServices } from './batch/run/run-services.ts'
import type { BatchWorker } from './batch/worker.ts'
import { batchWorkerOf } from './batch/worker-of.ts'
import type { Config } from './config/schema.ts'
import { firstAdmin } from './identity/accounts/first-admin.ts'
import { apiKeys } from './identity/api-keys.ts'
import { failedAttempts } from './identity/failed-attempts.ts'
import { identification } from './identity/identify.ts'
import { invitations } from './identity/invitations/invitations.ts'
import { keyCallers } from './identity/key-callers.ts'
import { masterKeysOf } from './identity/master-caller.ts'
import type { PasswordHasher } from './identity/passwords/password-hasher.ts'
import { passwordServices } from './identity/passwords/password-services.ts'
import { secondFactor } from './identity/second-factor/second-factor.ts'
import { sessions } from './identity/sessions/sessions.ts'
import { singleSignOn } from './identity/single-sign-on/single-sign-on.ts'
import { systemClock } from './lib/clock.ts'
import { keyHasher } from './lib/crypto.ts'
import { footprints } from './lib/footprints.ts'
import { newId } from './lib/ids.ts'
import type { Log } from './lib/log.ts'
import { readSaltKey, unsalted } from './lib/sealing/salt-key.ts'
import { sealUnder } from './lib/sealing/seal.ts'
import { reveal } from './lib/secret.ts'
import { separateTimers, type Timers } from './lib/timers/timers.ts'
import type { MailSender } from './mail/mail-sender.ts'
import { outbox } from './mail/outbox.ts'
import { resetLinks } from './mail/reset-links.ts'
import { mailSender } from './mail/senders.ts'
import { mcpToolServers } from './mcp/mcp-tool-servers.ts'
import { budgetNotices } from './pipeline/admit/budget-notices.ts'
import { storeClock } from './pipeline/admit/store-clock.ts'
import { usualUsage } from './pipeline/admit/usual-usage.ts'
import { flights } from './pipeline/cache/flights.ts'
import { foreground } from './pipeline/foreground.ts'
import { keptResponses } from './pipeline/memory/kept-responses.ts'
import { providers } from './providers/index.ts'
import { knownSignals } from './routing/known-signals.ts'
import { liveRegistry } from './routing/live/live-registry.ts'
import { promptVersions } from './routing/prompts/prompt-versions.ts'
import { deploymentIds } from './routing/registry.ts'
import type { Blobs } from './stores/blobs/blobs.ts'
import type { SharedStore } from './stores/kv/shared-store.ts'
import type { Queue } from './stores/queue/queue.ts'
import { type Backfill, backfill } from './stores/sql/backfill.ts'
import { bounded, MODEL_CALL_MS } from './stores/sql/bounded.ts'
import { promptRecords } from './stores/sql/prompts/prompt-records.ts'
import { budgetRecords } from './stores/sql/records/budget-records.ts'
import { callerRecords } from './stores/sql/records/caller-records.ts'
import { sqlRecords } from './stores/sql/records/index.ts'
import { spendLog } from './stores/sql/spend/spend-log.ts'
import { spendReports } from './stores/sql/spend/spend-reports.ts'
import type { Sql } from './stores/sql/sql.ts'
import { contentDoor } from './telemetry/content/content-door.ts'
import type { Delivery } from './telemetry/delivery/delivery.ts'
import type { RecordsMoved } from './telemetry/events.ts'
import { countedMetrics } from './telemetry/metrics/counted-metrics.ts'
import { processGauges } from './telemetry/metrics/process-gauges.ts'
import { measuring, type OwnProcess, processCounters, sharedCounters } from './telemetry/metrics/scopes.ts'
import { withSinkSeries } from './telemetry/metrics/sink-series.ts'
import { refusalCounter } from './telemetry/refusals.ts'
import { configuredSinks } from './telemetry/sinks/index.ts'
import type { Tally } from './telemetry/sinks/lanes/tally.ts'
import type { ObjectWriter } from './telemetry/sinks/s3-objects.ts'
import type { Sink, SinkLane } from './telemetry/sinks/sink.ts'
import { type ReadTelemetry, telemetry } from './telemetry/telemetry.ts'
import { upToDate } from './telemetry/up-to-date.ts'
import type { Transport } from './transport/transport.ts'

/** The adapters that a runtime chose for the ports. */
export interface Adapters {
  readonly store: SharedStore
  readonly sql: Sql
  readonly blobs: Blobs
  readonly queue: Queue
  readonly transport: Transport
  /** Sends e-mail by SMTP, if the runtime can and the configuration asks for it. */
  readonly smtp?: MailSender | undefined
  readonly passwordHasher: PasswordHasher
  readonly log: Log
  /** Metric counters are kept in this process, or in the shared store together with those of other isolates. */
  readonly counting: 'process' | 'shared'
  /** Keeps a runtime alive for work that would otherwise end with the request. */
  readonly defer?: (work: Promise<void>) => void
  /** The memory of this runtime for request bodies and unread answers. */
  readonly memoryBytes: number
  /** The number of callers that are kept in memory. */
  readonly callersKept: number
  /** Where a runtime bounds it: how many items of batches, probes, calls of tools or posts of a webhook wait for their
   *  answers at once in an event, whatever is configured. */
  readonly callsAtOnce?: number
  /** This process, if the runtime has one. */
  readonly process?: OwnProcess | undefined
  /** Delivers records to the database; `report` is called with the outcome. */
  readonly delivering: (report: (event: RecordsMoved) => void) => Delivery
  /** The way of events to a sink, where they do not wait in this process. */
  readonly sinkLane?: (sink: Sink, counts: Tally) => SinkLane
  /** The bucket for logs that the runtime itself is bound to. */
  readonly boundBucket?: ObjectWriter | undefined
  readonly draining: () => boolean
  readonly host?: Host | undefined
  /** Set if the runtime accepts answers in another form than a Response. */
  readonly toResponse?: ToResponse
  /** Where requests do not own their timers, and may share them. */
  readonly timers?: Timers
  /** The page of the console, if it was built. */
  readonly consoleShell?: (() => string | undefined) | undefined
}

export interface Services extends ApiServices {
  readonly telemetry: ReadTelemetry
  readonly backfill: Backfill
  readonly batchWorker: BatchWorker
}

/** Builds the services of the app from a configuration and the adapters of a runtime. */
export function createServices(config: Config, adapters: Adapters): Services {
  const { store, log } = adapters
  const metrics = countedMetrics(config)
  const scope = adapters.counting === 'process' ? processCounters(metrics) : sharedCounters(metrics, store)
  const delivery = adapters.delivering((event) => reports.emit(event))
  const refusals = refusalCounter(delivery, systemClock.now, adapters.defer)
  const callSql = bounded(adapters.sql, MODEL_CALL_MS)
  const { salt_key, salt_key_next, salt_key_previous, callable_target_default: targetDefault } = config.general_settings
  const graceMs = 1000 * config.general_settings.identity_grace_seconds
  const seal = sealUnder(salt_key, [salt_key_next, salt_key_previous])
  const records = sqlRecords(adapters.sql)
  const signals = knownSignals(systemClock.now)
  const timers = adapters.timers ?? separateTimers
  const hashKey = salt_key ? keyHasher(readSaltKey(reveal(salt_key)).hashing) : unsalted
  const toolServers = mcpToolServers({
    transport: adapters.transport,
    timers,
    defer: adapters.defer,
    gateway: (salt_key ? hashKey('gateway') : newId('gateway')).slice(0, 24),
    now: systemClock.now,
    log,
  })
  const live = liveRegistry({
    config,
    providers,
    records: records.models,
    credentials: records.credentials,
    drained: records.drained,
    groups: records.routeGroups,
    policies: records.routeGroupPolicies,
    toolServers: records.mcpServers,
    prompts: records.prompts,
    seal,
    log,
    now: systemClock.now,
    changed(registry) {
      signals.keep(deploymentIds(registry))
      toolServers.keep(registry.toolServers)
    },
  })
  const sinks = configuredSinks(config, { ...adapters, report: scope.count })
  const reports = telemetry({ ...adapters, counters: scope, delivery: refusals.delivery, sinks, refusals })
  const read = upToDate({ counters: scope, delivery: refusals.delivery }, reports.catchUp)
  const gauges = () => processGauges(store.mode(), read.delivery, sinks.states(), adapters.process?.vitals())
  const attempts = failedAttempts(config.general_settings.max_failed_authentications, systemClock.now)
  const keys = apiKeys({
    hash: hashKey,
    records: callerRecords(callSql),
    store,
    targetDefault,
    callersKept: adapters.callersKept,
    graceMs,
    ...(adapters.defer ? { defer: adapters.defer } : {}),
    now: systemClock.now,
    log,
    pace: attempts.pace,
  })
  const masterKeys = masterKeysOf(config.general_settings, log)
  const browserSessions = sessions({
    hash: hashKey,
    records: records.sessions,
    store,
    masterKeys,
    requireMfa: config.general_settings.require_mfa,
    graceMs,
    attempts,
    now: systemClock.now,
  })
  const factor = secondFactor({
    records: records.secondFactors,
    sessions: browserSessions,
    store,
    seal,
    hash: hashKey,
    now: systemClock.now,
  })
  const emails = outbox({
    sender: mailSender(config.general_settings, { transport: adapters.transport, log, smtp: adapters.smtp }),
    records: records.emails,
    seal,
    log,
    now: systemClock.now,
  })
  const people = passwordServices({
    hasher: adapters.passwordHasher,
    accounts: records.accounts,
    records: records.passwords,
    sessions: browserSessions,
    proveCode: factor.prove,
    store,
    links: resetLinks(emails, config.general_settings.email_base_url),
    hash: hashKey,
    log,
    now: systemClock.now,
  })
  const services: ApiServices & RunServices & Omit<Services, 'batchWorker'> = {
    ...adapters,
    toResponse: adapters.toResponse ?? toResponse,
    config,
    identify: identification(masterKeys, keys, attempts),
    sessions: browserSessions,
    outbox: emails,
    secondFactor: factor,
    ...people,
    firstAdmin: firstAdmin({
      settings: config.general_settings,
      records: records.accounts,
      passwords: people.passwords,
      store,
      hash: hashKey,
      telemetry: reports,
      now: systemClock.now,
      log,
    }),
    invitations: invitations({
      records: records.invitationAcceptance,
      passwords: people.passwords,
      store,
      hash: hashKey,
    }),
    singleSignOn: singleSignOn({
      settings: config.general_settings,
      store,
      records: records.identities,
      transport: adapters.transport,
      throttle: attempts.failed,
      now: systemClock.now,
    }),
    files: batchFiles({ records: records.files, blobs: adapters.blobs, settings: config.general_settings, log }),
    hashKey,
    runningTools: runningTools(),
    footprints: footprints(boundsOf(config, adapters.memoryBytes), systemClock.now),
    clientAddress: clientAddress(config.general_settings.trusted_proxies),
    budgets: budgetRecords(callSql),
    budgetNotices: budgetNotices({ store, telemetry: reports, now: systemClock.now, log }),
    usual: usualUsage(systemClock.now),
    get registry() {
      return live.current()
    },
    promptVersions: promptVersions(promptRecords(callSql)),
    live,
    records,
    seal,
    signals,
    delivery: read.delivery,
    sinks,
    backfill: backfill(adapters.sql),
    spendReports: spendReports(adapters.sql),
    spendLog: spendLog(adapters.sql),
    telemetry: reports,
    content: contentDoor(config.gateway_settings, sinks.takeContent, adapters.memoryBytes),
    metrics: withSinkSeries(metrics, sinks.byName.keys()),
    measured: measuring(read.counters, gauges, adapters.process?.pool),
    flushCounters: scope.flush,
    flights: flights(store, timers),
    clock: systemClock,
    storeClock: storeClock(systemClock),
    timers,
    toolServers,
    responses: keptResponses(store, salt_key ? seal : undefined, config.general_settings),
    random: Math.random,
    foreground: foreground(),
    batchEndpoints: batchedEndpoints,
    keyCallers: keyCallers({ records: callerRecords(callSql), targetDefault, graceMs, now: systemClock.now }),
  }
  return Object.assign(services, { batchWorker: batchWorkerOf(services, adapters.callsAtOnce) })
}

/** The bounds of memory for bodies and answers: one key may use half of it by default. */
function boundsOf({ general_settings: settings }: Config, memoryBytes: number): { total: number; owner: number } {
  const total = settings.max_in_flight_bytes ?? memoryBytes
  return { total, owner: settings.max_key_in_flight_bytes ?? Math.floor(total / 2) }
}
