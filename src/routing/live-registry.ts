import { pathText } from '../config/config-error.ts'
import { groupReferences } from '../config/group-names.ts'
import type { Config } from '../config/schema.ts'
import type { ModelEntry } from '../config/sections/model-list.ts'
import { atMost } from '../lib/at-most.ts'
import { describeError, type Log, throttled } from '../lib/log.ts'
import type { Seal } from '../lib/seal.ts'
import type { Provider } from '../providers/provider.ts'
import type { ModelRecord, ModelRecords } from '../stores/sql/records/model-records.ts'
import type { RouteGroupPolicyRecords } from '../stores/sql/records/route-group-policy-records.ts'
import type { RouteGroupRecord, RouteGroupRecords } from '../stores/sql/records/route-group-records.ts'
import type { Deployment } from './deployment.ts'
import type { GroupSettings } from './group-settings.ts'
import { deploymentOf, deploymentsOf, type Registry, registryFrom } from './registry.ts'
import { type RouteGroup, routeGroup } from './route-group.ts'
import { routeGroupPolicy, settingsOf } from './route-group-policy.ts'
import { entryOf } from './stored-model.ts'

/** The registry of this moment: the file's deployments and the database's, of which the database's win by their id, and
 *  what was published for groups. A database that is away leaves the last known one. */
export interface LiveRegistry {
  current(): Registry
  /** Takes the first look, where promises outlive requests: whoever comes before it has ended waits for this one, and
   *  those that have to wait later share their looks as well. */
  begin(): void
  /** Called by every request that may use it. A promise where it has to wait, and then not for long: before the first
   *  look at the database, and after a silence in which nobody has looked. Else looks beside the request. */
  attend(defer: (work: Promise<unknown>) => void): Promise<void> | undefined
  /** Reads the database now, so that a change made here is seen here. */
  refresh(): Promise<void>
  /** Throws what keeps an entry from being a deployment here. */
  check(entry: ModelEntry): void
}

/** How often the database is asked whether anything changed, while there are requests. */
const LOOK_EVERY_MS = 2000
/** What was seen longer ago is too old to go by. */
const STALE_MS = 4000
const FIRST_WAIT_MS = 1000
const WAIT_MS = 250

export function liveRegistry(options: {
  readonly config: Config
  readonly providers: ReadonlyMap<string, Provider>
  readonly records: ModelRecords
  readonly groups: RouteGroupRecords
  readonly policies: RouteGroupPolicyRecords
  readonly seal: Seal
  readonly log: Log
  readonly now: () => number
  /** Told of each registry after the first. */
  readonly changed?: (registry: Registry) => void
}): LiveRegistry {
  const { config, providers, records, groups, policies, seal, log, now } = options
  const fromFile = deploymentsOf(config, providers)
  let current = build([], [], new Map())
  let revision = '0'
  let begun = 0
  let applied = 0
  let askedAt = Number.NEGATIVE_INFINITY
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
    stored: readonly Deployment[],
    routeGroups: readonly RouteGroup[],
    published: ReadonlyMap<string, Partial<GroupSettings>>,
  ): Registry {
    const replaced = new Set(stored.map(({ id }) => id))
    const kept = fromFile.filter(({ id }) => !replaced.has(id))
    return registryFrom([...kept, ...stored], config.router_settings.model_group_alias, routeGroups, published)
  }

  async function deploymentFrom(record: ModelRecord): Promise<Deployment | undefined> {
    try {
      return deploymentOf(await entryOf(record, seal), providers)
    } catch (error) {
      log.error('registry.record_left_out', { deployment: record.deployment_id, error: describeError(error) })
      return undefined
    }
  }

  function routeGroupFrom(record: RouteGroupRecord): RouteGroup | undefined {
    const { name, enabled, members } = record
    const result = routeGroup().safeParse({ name, enabled, members })
    if (!result.success) log.error('registry.record_left_out', { routeGroup: name })
    return result.data
  }

  function settingsFrom(group: string, published: unknown): [string, Partial<GroupSettings>][] {
    const result = routeGroupPolicy().safeParse(published)
    if (!result.success) log.error('registry.record_left_out', { policyOf: group })
    return result.success ? [[group, settingsOf(result.data)]] : []
  }

  async function read(): Promise<void> {
    const turn = ++begun
    // Before the records: what changes between the two is read again next time, and never missed.
    const found = await records.revision()
    if (found !== revision) {
      const [models, routeGroups, published] = await Promise.all([records.all(), groups.all(), policies.published()])
      const stored = await Promise.all(models.map(deploymentFrom))
      // A slower look that began earlier does not undo this one.
      if (turn > applied) {
        applied = turn
        current = build(
          stored.filter((deployment) => deployment !== undefined),
          routeGroups.map(routeGroupFrom).filter((group) => group !== undefined),
          new Map(published.flatMap((policy) => settingsFrom(policy.group_name, policy.published))),
        )
        revision = found
        options.changed?.(current)
      }
    }
    seenAt = now()
    away = false
    if (!namesChecked) reportUnknownNames()
  }

  /** Once, as soon as it can be known: chains and aliases go by what there is at each call. */
  function reportUnknownNames(): void {
    namesChecked = true
    for (const { path, name } of groupReferences(config)) {
      if (!current.resolve(name)) log.warn('config.unknown_group', { field: pathText(path), name })
    }
  }

  async function look(): Promise<void> {
    askedAt = now()
    try {
      await read()
    } catch (error) {
      away = true
      awayError = describeError(error)
      reportAway()
    }
  }

  /** One look for all that have to wait for it. */
  function lookTogether(): Promise<void> {
    beginning ??= look().finally(() => {
      beginning = undefined
    })
    return beginning
  }

  return {
    current: () => current,
    begin() {
      shares = true
      void lookTogether()
    },
    attend(defer) {
      const time = now()
      const waits = !away && time - seenAt > STALE_MS
      if (!waits && time - askedAt < LOOK_EVERY_MS) return undefined
      const looking = waits && shares ? lookTogether() : look()
      defer(looking)
      if (!waits) return undefined
      const first = seenAt === Number.NEGATIVE_INFINITY
      return atMost(first ? FIRST_WAIT_MS : WAIT_MS, looking).then((inTime) => {
        // The others do not wait for what has just kept one waiting.
        if (!inTime) away = true
      })
    },
    refresh: read,
    check(entry) {
      deploymentOf(entry, providers)
    },
  }
}
