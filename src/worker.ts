import consoleShell from '../build/console/shell.html'
import configText from '../gateway.yaml'
import schemaText from '../schema.sql'
import { createApp } from './app.ts'
import { BATCH_TOPIC } from './batch/wake-up.ts'
import { jsonLog } from './lib/log.ts'
import { loadConfig } from './routing/configuration.ts'
import { type WorkerBindings, workerAdapters } from './runtimes/workers/adapters.ts'
import { workerClient } from './runtimes/workers/client.ts'
import { logMisconfigured, refusal } from './runtimes/workers/refusal.ts'
import { batchTurn, runOnce, scheduledJobs } from './scheduled.ts'
import { createServices } from './services.ts'
import { deliver, type QueueBatch, type QueueMessage, retryLater } from './stores/queue/cloudflare.ts'
import { carriesRecord, writeQueued } from './telemetry/delivery/queued-records.ts'
import { carriesEntry, deliverQueued } from './telemetry/sinks/lanes/queued-entries.ts'
import { topics } from './telemetry/topics.ts'

interface Execution {
  waitUntil(work: Promise<unknown>): void
}

type Gateway = ReturnType<typeof assemble>

let gateway: Gateway | undefined

// biome-ignore lint/suspicious/noConsole: the runtime's log is its console.
const write = (line: string) => console.log(line)

/** Assembles the gateway once in each isolate, at its first event. It is synchronous. */
function assemble(bindings: WorkerBindings) {
  const config = loadConfig(configText, { ...bindings })
  const log = jsonLog(config.general_settings.log_level, write)
  const services = createServices(config, {
    ...workerAdapters(config, bindings, schemaText, log),
    consoleShell: () => consoleShell,
  })
  return { app: createApp(services), services, log }
}

/** Separates records and events for sinks, which are delivered in batches, from work, which is done one by one. */
function sorted({ messages }: QueueBatch): {
  readonly records: readonly QueueMessage[]
  readonly entries: readonly QueueMessage[]
  readonly work: QueueBatch
} {
  const isWork = (message: QueueMessage) => !carriesRecord(message) && !carriesEntry(message)
  return {
    records: messages.filter(carriesRecord),
    entries: messages.filter(carriesEntry),
    work: { messages: messages.filter(isWork) },
  }
}

export { SharedStoreObject } from './runtimes/workers/shared-store-object.ts'

export default {
  async fetch(request: Request, bindings: WorkerBindings, execution: Execution): Promise<Response> {
    const first = gateway === undefined
    try {
      gateway ??= assemble(bindings)
    } catch (error) {
      return refusal(error, write)
    }
    const { app, services } = gateway
    // The schema is applied in the background; only requests that need the database wait for it.
    if (first) execution.waitUntil(services.sql.query({ sql: 'select 1', parameters: [] }).catch(() => {}))
    const stallMs = 1000 * services.config.general_settings.client_stall_timeout
    const client = workerClient(request, (work) => execution.waitUntil(work), stallMs)
    const answered = app.fetch(request, { client })
    // Registered work continues when the client disconnects.
    execution.waitUntil(Promise.resolve(answered).then(client.answered, client.answered))
    return answered
  },

  async queue(batch: QueueBatch, bindings: WorkerBindings): Promise<void> {
    try {
      gateway ??= assemble(bindings)
    } catch (error) {
      logMisconfigured(error, write)
      // Thrown on, the attempts of a message would be used up within minutes, and what it carries would be deleted.
      for (const message of batch.messages) retryLater(message)
      return
    }
    const { log, services } = gateway
    const { records, entries, work } = sorted(batch)
    // Records first: far ends that hang have most connections of an event.
    await writeQueued(records, {
      topics,
      sql: services.sql,
      log,
      deadLetters: services.records.deadLetters,
      report: services.telemetry.emit,
    })
    await Promise.all([
      deliverQueued(entries, services.sinks.byName, log),
      deliver(
        work,
        async ({ topic }) => {
          if (topic === BATCH_TOPIC) return services.batchWorker.turn()
          throw new Error(`nothing handles messages of topic '${topic}'`)
        },
        log,
      ),
    ])
  },

  async scheduled(_event: unknown, bindings: WorkerBindings): Promise<void> {
    gateway ??= assemble(bindings)
    const { services } = gateway
    const { signal } = new AbortController()
    await Promise.all(scheduledJobs(services).map((job) => runOnce(services, job, signal)))
    // Last: its calls and those of health checks would leave no connection of this event to the stores.
    const turn = batchTurn(services)
    if (turn.everySeconds > 0) await runOnce(services, turn, signal)
  },
}
