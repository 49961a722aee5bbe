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
import { accountServices } from './identity/accounts/account-services.ts'
import { apiKeys } from './identity/api-keys.ts'
import { failedAttempts } from './identity/failed-attempts.ts'
import { identification } from './identity/identify.ts'
import { keyCallers } from './identity/key-callers.ts'
import { masterKeysOf } from './identity/master-caller.ts'
import type { PasswordHasher } from './identity/passwords/password-hasher.ts'
import { INVITERS } from './identity/roles.ts'
import { systemClock } from './lib/clock.ts'
import { keyHasher } from './lib/crypto.ts'
import { footprints } from './lib/footprints.ts'
import { newId } from './lib/ids.ts'
import { readSaltKey, unsalted } from './lib/sealing/salt-key.ts'
import { sealUnder } from './lib/sealing/seal.ts'
import { reveal } from './lib/secret.ts'
import { separateTimers } from './lib/timers/timers.ts'
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
import type { Queue } from './stores/queue/queue.ts'
import { type Backfill, backfill } from './stores/sql/backfill.ts'
import { bounded, MODEL_CALL_MS } from './stores/sql/bounded.ts'
import { promptRecords } from './stores/sql/prompts/prompt-records.ts'
import { budgetRecords } from './stores/sql/records/budget-records.ts'
import { callerRecords } from './stores/sql/records/caller-records.ts'
import { sqlRecords } from './stores/sql/records/index.ts'
import { spendLog } from './stores/sql/spend/spend-log.ts'
import { spendReports } from './stores/sql/spend/spend-reports.ts'
import { spentSoFar } from './telemetry/spent-so-far.ts'
import type { ReadTelemetry } from './telemetry/telemetry.ts'
import { type TelemetryAdapters, telemetryServices } from './telemetry/telemetry-services.ts'

/** The adapters that a runtime chose for the ports. */
export interface RuntimeAdapters extends TelemetryAdapters {
  readonly blobs: Blobs
  readonly queue: Queue
  /** Sends e-mail by SMTP, if the runtime can and the configuration asks for it. */
  readonly smtp?: MailSender | undefined
  readonly passwordHasher: PasswordHasher
  /** The number of callers that are kept in memory. */
  readonly callersKept: number
  readonly draining: () => boolean
  readonly host?: Host | undefined
  /** Set if the runtime accepts answers in another form than a Response. */
  readonly toResponse?: ToResponse
  /** The page of the console, if it was built. */
  readonly consoleShell?: (() => string | undefined) | undefined
}

export interface Services extends ApiServices {
  readonly telemetry: ReadTelemetry
  readonly backfill: Backfill
  readonly batchWorker: BatchWorker
}

/** Builds the services of the app from a configuration and the adapters of a runtime. */
export function createServices(config: Config, adapters: RuntimeAdapters): Services {
  const { store, log } = adapters
  const reports = telemetryServices(config, adapters, systemClock.now)
  const callSql = bounded(adapters.sql, MODEL_CALL_MS)
  const { salt_key, salt_key_next, salt_key_previous, callable_target_default: targetDefault } = config.general_settings
  const graceMs = 1000 * config.general_settings.identity_grace_seconds
  const seal = sealUnder(salt_key, [salt_key_next, salt_key_previous])
  const records = sqlRecords(adapters.sql, INVITERS)
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
  const emails = outbox({
    sender: mailSender(config.general_settings, { transport: adapters.transport, log, smtp: adapters.smtp }),
    records: records.emails,
    seal,
    log,
    now: systemClock.now,
  })
  const accounts = accountServices({
    settings: config.general_settings,
    records,
    store,
    transport: adapters.transport,
    hasher: adapters.passwordHasher,
    links: resetLinks(emails, config.general_settings.email_base_url),
    masterKeys,
    attempts,
    hash: hashKey,
    seal,
    telemetry: reports.telemetry,
    log,
    now: systemClock.now,
  })
  const services: ApiServices & RunServices & Omit<Services, 'batchWorker'> = {
    ...adapters,
    ...reports,
    ...accounts,
    toResponse: adapters.toResponse ?? toResponse,
    config,
    identify: identification(masterKeys, keys, attempts),
    outbox: emails,
    files: batchFiles({ records: records.files, blobs: adapters.blobs, settings: config.general_settings, log }),
    hashKey,
    runningTools: runningTools(),
    footprints: footprints(boundsOf(config, adapters.memoryBytes), systemClock.now),
    clientAddress: clientAddress(config.general_settings.trusted_proxies),
    budgets: spentSoFar(budgetRecords(callSql), reports.delivery),
    budgetNotices: budgetNotices({
      records: budgetRecords(callSql),
      telemetry: reports.telemetry,
      now: systemClock.now,
      log,
    }),
    usual: usualUsage(systemClock.now),
    get registry() {
      return live.current()
    },
    promptVersions: promptVersions(promptRecords(callSql)),
    live,
    records,
    seal,
    signals,
    backfill: backfill(adapters.sql),
    spendReports: spendReports(adapters.sql),
    spendLog: spendLog(adapters.sql),
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
