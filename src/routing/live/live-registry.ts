import { pathText } from '../../config/config-error.ts'
import { groupReferences } from '../../config/group-names.ts'
import type { Config } from '../../config/schema.ts'
import type { ModelEntry } from '../../config/sections/model-list.ts'
import { elapsedMs } from '../../lib/clock.ts'
import { describeError, type Log, throttled } from '../../lib/log.ts'
import type { Seal } from '../../lib/sealing/seal.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import type { ToolServersByKey } from '../../mcp/tool-server.ts'
import type { Provider } from '../../providers/provider.ts'
import type { CredentialRecords } from '../../stores/sql/credential-records.ts'
import type { DrainedDeployments } from '../../stores/sql/drained-deployments.ts'
import type { PromptRecords } from '../../stores/sql/prompts/prompt-records.ts'
import type { ModelRecords } from '../../stores/sql/records/model-records.ts'
import type { RouteGroupPolicyRecords } from '../../stores/sql/records/route-group-policy-records.ts'
import type { RouteGroupRecords } from '../../stores/sql/records/route-group-records.ts'
import type { McpServerRecords } from '../../stores/sql/tools/mcp-server-records.ts'
import type { Deployment } from '../deployment.ts'
import type { PromptsByKey } from '../prompts/prompt.ts'
import { deploymentOf, type Registry, registryFrom } from '../registry.ts'
import type { RouteGroup } from '../route-group.ts'
import { type CredentialsByName, liveDeployments } from './live-deployments.ts'
import { livePolicies, type Policies } from './live-policies.ts'
import { livePrompts } from './live-prompts.ts'
import { liveRouteGroups } from './live-route-groups.ts'
import { liveToolServers } from './live-tool-servers.ts'

/** The current registry: what the file and the database say together, where a record of the database replaces what has
 *  its name in the file. Each kind of thing in it has a file of its own beside this one. While the database is away, the last known registry stays in use. */
export interface LiveRegistry {
  current(): Registry
  /** Begins the first reading, for runtimes whose promises outlive requests. Requests that have to wait for a reading
   *  then share it. */
  begin(): void
  /** Called by every request that uses the registry. Returns a promise, with a short limit, if the request has to wait:
   *  before the first reading, and when the last one is too old. Otherwise the database is read beside the request. */
  attend(defer: (work: Promise<unknown>) => void): Promise<void> | undefined
  /** Reads the database now, so that a change of this process applies here at once. */
  refresh(): Promise<void>
  /** Throws if an entry cannot be a deployment of this build. */
  check(entry: ModelEntry): void
  /** Why deployments of the file and of the database are not among those of `current`, by their id. */
  leftOut(): ReadonlyMap<string, string>
  /** The named credentials of the database. */
  credentials(): CredentialsByName
}

/** The interval at which the database is asked for changes, while there are requests. */
const READ_EVERY_MS = 2000
/** The age at which a reading is too old to use. */
const STALE_MS = 4000
const FIRST_WAIT_MS = 1000
const WAIT_MS = 250

export function liveRegistry(options: {
  readonly config: Config
  readonly providers: ReadonlyMap<string, Provider>
  readonly records: ModelRecords
  readonly credentials: Pick<CredentialRecords, 'all'>
  readonly drained: Pick<DrainedDeployments, 'all'>
  readonly groups: RouteGroupRecords
  readonly policies: RouteGroupPolicyRecords
  readonly toolServers: McpServerRecords
  readonly prompts: PromptRecords
  readonly seal: Seal
  readonly log: Log
  readonly now: () => number
  /** Called with each registry after the first. */
  readonly changed?: (registry: Registry) => void
}): LiveRegistry {
  const { config, providers, records, credentials, drained, groups, policies, seal, log, now } = options
  const deployments = liveDeployments({ config, providers, records, credentials, drained, seal, log })
  const routeGroups = liveRouteGroups(groups, log)
  const published = livePolicies(policies, log)
  const toolServers = liveToolServers({ config, records: options.toolServers, seal, log })
  const prompts = livePrompts(options.prompts, log)
  let current: Registry = {
    ...build(deployments.ofFile, routeGroups.ofFile, published.ofFile, toolServers.ofFile, prompts.ofFile),
    unread: true,
  }
  // Where nothing was ever changed there is nothing to read, unless the file waits for it.
  let revision = deployments.leftOut().size === 0 ? '0' : ''
  let begun = 0
  let applied = 0
  let attemptedAt = Number.NEGATIVE_INFINITY
  let seenAt = Number.NEGATIVE_INFINITY
  let away = false
  let shares = false
  let beginning: Promise<void> | undefined
  let awayError = ''
  let namesChecked = false
  const reportAway = throttled(60_000, now, (suppressed) =>
    log.warn('registry.database_away', { error: awayError, suppressed }),
  )

  function build(
    deployments: readonly Deployment[],
    routeGroups: readonly RouteGroup[],
    policies: Policies,
    toolServers: ToolServersByKey,
    prompts: PromptsByKey,
  ): Registry {
    return registryFrom(deployments, config.router_settings.model_group_alias, routeGroups, policies, {
      toolServers,
      prompts,
    })
  }

  async function read(): Promise<void> {
    const turn = ++begun
    // Read before the records, so that a change in between is read again next time.
    const found = await records.revision()
    if (found !== revision) {
      const parts = await Promise.all([
        deployments.read(),
        routeGroups.read(),
        published.read(),
        toolServers.read(),
        prompts.read(),
      ])
      // A slower reading that began earlier does not replace a later one.
      if (turn > applied) {
        applied = turn
        current = build(...parts)
        revision = found
        options.changed?.(current)
      }
    }
    seenAt = now()
    away = false
    if (current.unread) current = { ...current, unread: false }
    if (!namesChecked) reportUnknownNames()
  }

  /** Warns once, after the first reading. Calls resolve chains and aliases by the current registry. */
  function reportUnknownNames(): void {
    namesChecked = true
    for (const { path, name } of groupReferences(config)) {
      if (!current.resolve(name)) log.warn('config.unknown_group', { field: pathText(path), name })
    }
  }

  async function tryToRead(): Promise<void> {
    attemptedAt = now()
    try {
      await read()
    } catch (error) {
      away = true
      awayError = describeError(error)
      reportAway()
    }
  }

  /** One reading for all requests that have to wait. */
  function sharedReading(): Promise<void> {
    beginning ??= tryToRead().finally(() => {
      beginning = undefined
    })
    return beginning
  }

  return {
    current: () => current,
    begin() {
      shares = true
      void sharedReading()
    },
    attend(defer) {
      const time = now()
      const waits = !away && elapsedMs(seenAt, time) > STALE_MS
      if (!waits && elapsedMs(attemptedAt, time) < READ_EVERY_MS) return undefined
      const reading = waits && shares ? sharedReading() : tryToRead()
      defer(reading)
      if (!waits) return undefined
      const first = seenAt === Number.NEGATIVE_INFINITY
      return atMost(first ? FIRST_WAIT_MS : WAIT_MS, reading).then((inTime) => {
        // Further requests do not wait for a slow database.
        if (!inTime) away = true
      })
    },
    refresh: read,
    check(entry) {
      deploymentOf(entry, providers)
    },
    leftOut: deployments.leftOut,
    credentials: deployments.credentials,
  }
}
