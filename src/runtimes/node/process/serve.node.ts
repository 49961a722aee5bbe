import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { createApp } from '../../../app.ts'
import { BATCH_TOPIC } from '../../../batch/wake-up.ts'
import type { Config } from '../../../config/schema.ts'
import { describeError } from '../../../lib/log.ts'
import { atMost } from '../../../lib/timers/at-most.ts'
import { sharedTimers } from '../../../lib/timers/shared-timers.node.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import { runOnce, scheduledJobs } from '../../../scheduled.ts'
import { createServices, type RuntimeAdapters, type Services } from '../../../services.ts'
import type { PostgresQueue } from '../../../stores/queue/postgres.ts'
import type { Queue } from '../../../stores/queue/queue.ts'
import { builtConsole } from '../http/assets.node.ts'
import { nodeClient } from '../http/client.node.ts'
import { connectionsOf, drain, pendingWork } from '../http/drain.node.ts'
import { onExpectation } from '../http/expectations.node.ts'
import { noTunnel, requestListener, toResponse, unreadableAnswer } from '../http/listener.node.ts'
import { listening } from '../http/listening.node.ts'
import { KEPT_SECONDS } from '../http/plain/plain-answer.node.ts'
import { plainConnections } from '../http/plain/plain-connections.node.ts'
import { watchStalls } from '../http/stalls.node.ts'
import { temporaryFiles } from '../http/temporary-file.node.ts'
import { CONSOLE } from '../setup/places.node.ts'
import type { NodeSettings } from '../setup/settings.node.ts'
import { startTimers } from './timers.node.ts'

// Importing node:http would also load Node's fetch and WebSocket, which are not used: 40 ms.
const { createServer } = process.getBuiltinModule('node:http')

export interface Serving {
  readonly port: number
  /** A token that creates the first account; undefined if there is an account, or if another process has returned a
   *  token. */
  setupToken(): Promise<string | undefined>
  /** Resolves when all deferred work of answered requests is done, and their events are read. */
  idle(): Promise<void>
  /** Reports that it is not ready; after `shutdown_delay` stops accepting connections, waits for running calls up to
   *  the limit, cuts the others, and stores the records. `idleMs`: how long a connection that is kept alive may be idle. */
  stop(limitMs?: number, idleMs?: number): Promise<'drained' | 'cut'>
}

/** The longest head of a request, as on Workers. */
const HEAD_BYTES = 128 * 1024
/** How much of a stream may wait for its client before its provider is no longer read. */
const UNSENT_BYTES = 16_384

/** The time for storing the records of ended calls, and for telling sinks of them. */
const RECORDS_MS = 5000

/** The time for giving back items of batches that have not ended. Without a database others take them over when their
 *  claims end. */
const GIVING_BACK_MS = 2500

/** The default time for running calls to end. */
const DRAIN_MS = 30_000

/** Serves the gateway on a port of this machine. */
export async function serve(
  config: Config,
  adapters: Omit<RuntimeAdapters, 'draining'> & { readonly queue: Queue & Partial<Pick<PostgresQueue, 'consume'>> },
  address: Pick<NodeSettings, 'port' | 'host' | 'dataFolder'>,
): Promise<Serving> {
  const { log } = adapters
  const { shutdown_delay } = config.general_settings
  const consoleFiles = builtConsole(CONSOLE)
  let draining = false
  const services = createServices(config, {
    ...adapters,
    draining: () => draining,
    toResponse,
    timers: sharedTimers(),
    consoleShell: consoleFiles.shell,
  })
  const app = createApp(services)
  // Loaded at the start, so that the first request finds stored models, and unknown names are logged.
  services.live.begin()
  const pending = pendingWork((error) => log.error('deferred.failed', { error: describeError(error) }))
  const clients = { defer: pending.add, scratch: temporaryFiles(address.dataFolder) }
  const listener = requestListener((request, incoming, outgoing) => {
    const answer = connections.answering(outgoing)
    const asset = consoleFiles.asset(incoming)
    return asset ?? app.fetch(request, { client: nodeClient(incoming, answer, clients) })
  }, log)
  const webSockets = config.general_settings.responses_websocket
    ? (await import('../http/responses-sockets.node.ts')).responsesSockets({
        fetch: async (request, client) => (await app.fetch(request, { client })) as unknown as Answer,
        services,
        defer: pending.add,
      })
    : undefined
  const server = createServer(
    // Repeated headers are joined, as on Workers: one of several credentials must not be taken for the only one.
    {
      keepAliveTimeout: 1000 * KEPT_SECONDS,
      noDelay: true,
      joinDuplicateHeaders: true,
      maxHeaderSize: HEAD_BYTES,
      highWaterMark: UNSENT_BYTES,
      // The listener refuses requests without a host in the one shape of errors.
      requireHostHeader: false,
      ...(webSockets && { shouldUpgradeCallback: webSockets.isOpening }),
    },
    listener,
  )
  if (webSockets) server.on('upgrade', webSockets.open)
  onExpectation(server, listener)
  const connections = connectionsOf(server, plainConnections(server, listener))
  const stopWatching = watchStalls(connections.open, 1000 * config.general_settings.client_stall_timeout)
  server.on('clientError', (error, socket) => {
    if (socket.writable && !connections.isAnswered(socket)) socket.write(unreadableAnswer(error))
    ;(socket as Socket).destroySoon()
  })
  server.on('connect', (_, socket) => socket.on('error', () => socket.destroy()).end(noTunnel()))

  await listening(server, address.port, address.host)
  // A connection that cannot be accepted ends neither the others nor the process.
  server.on('error', (error) => log.error('accept.failed', { error: describeError(error) }))
  const timers = startTimers(scheduledJobs(services), (job, signal) => {
    const work = runOnce(services, job, signal)
    pending.add(work)
    return work
  })
  const stopBatches = workOnBatches(services, adapters.queue)
  return {
    port: (server.address() as AddressInfo).port,
    async setupToken() {
      try {
        await services.firstAdmin.ensure()
        return await services.firstAdmin.setupToken()
      } catch (error) {
        // The first sign-in tries again.
        log.error('account.bootstrap_failed', { error: describeError(error) })
        return undefined
      }
    },
    async idle() {
      await pending.settled()
      services.telemetry.catchUp()
    },
    async stop(limitMs = DRAIN_MS, idleMs) {
      draining = true
      timers.stop()
      webSockets?.end()
      const stoppingBatches = atMost(limitMs + GIVING_BACK_MS, stopBatches(limitMs))
      if (shutdown_delay > 0) {
        // A balancer's connections end with their next answer, so that few are left to close when the delay is over.
        connections.last()
        await wait(1000 * shutdown_delay)
      }
      const outcome = await drain(server, { connections, pending, limitMs, idleMs })
      stopWatching()
      await stoppingBatches
      // Lost events of sinks are counted and logged by their lanes.
      const [lost] = await Promise.all([
        services.delivery.drain(RECORDS_MS),
        services.sinks.drain(RECORDS_MS),
        services.toolServers.end(),
      ])
      if (lost > 0) log.error('records.lost', { records: lost })
      await services.telemetry.raised()
      return outcome
    },
  }
}

/** The time in which another process notices a wake-up at the latest. This one notices its own at once. */
const WAKE_POLL_MS = 2000

/** Works on batches until it is stopped, if they are on. */
function workOnBatches(
  { batchWorker, config, log }: Services,
  queue: Partial<Pick<PostgresQueue, 'consume'>>,
): (limitMs: number) => Promise<void> {
  if (!config.general_settings.embeddings_batch_enabled) return async () => {}
  const stopping = new AbortController()
  batchWorker.start()
  const consuming = queue.consume?.(
    async ({ topic }) => {
      if (topic !== BATCH_TOPIC) throw new Error(`nothing handles messages of topic '${topic}'`)
      batchWorker.wake()
    },
    { signal: stopping.signal, pollMs: WAKE_POLL_MS },
  )
  consuming?.catch((error) => log.error('queue.consume_failed', { error: describeError(error) }))
  return async (limitMs) => {
    stopping.abort()
    await batchWorker.stop(limitMs)
    await consuming?.catch(() => {})
  }
}
