import { ConfigError, type Mistake } from '../config/config-error.ts'
import type { Config } from '../config/schema.ts'
import type { ModelEntry, ModelInfo } from '../config/sections/model-list.ts'
import type { ToolServersByKey } from '../mcp/tool-server.ts'
import type { ModeName } from '../modes/mode.ts'
import { withListPrices } from '../providers/price-table.ts'
import type { Capability, Provider } from '../providers/provider.ts'
import { accessGroupsOfModel } from './access-groups.ts'
import type { Deployment, Group } from './deployment.ts'
import type { GroupSettings } from './group-settings.ts'
import type { PromptsByKey } from './prompts/prompt.ts'
import { groupOf, type RouteGroup } from './route-group.ts'

/** What a registry has beside models and groups. */
export interface RegistryExtras {
  /** The servers of managed tools by their key, with those that are turned off. */
  readonly toolServers: ToolServersByKey
  /** The prompts that are not archived, by their key. */
  readonly prompts: PromptsByKey
}

/** The callable models and groups. A name is resolved as an alias first, then as a group. */
export interface Registry extends RegistryExtras {
  resolve(name: string): Group | undefined
  /** Every public name: models, route groups and aliases, sorted. */
  readonly names: readonly string[]
  /** The groups by model name, in which every deployment occurs once. */
  readonly groups: readonly Group[]
  /** It has what the file says alone, because the database has not been read yet: a name that is not in it may exist. */
  readonly unread: boolean
}

/** The registry of deployments, aliases, route groups and policies by the name of their group. */
export function registryFrom(
  deployments: readonly Deployment[],
  modelGroupAlias: Readonly<Record<string, string>>,
  routeGroups: readonly RouteGroup[] = [],
  policies: ReadonlyMap<string, Partial<GroupSettings>> = new Map(),
  extras: Partial<RegistryExtras> = {},
): Registry {
  const underPolicy = (group: Group): Group => {
    const policy = policies.get(group.name)
    return policy ? { ...group, policy } : group
  }
  const byName = new Map<string, Deployment[]>()
  for (const deployment of deployments) {
    const sharing = byName.get(deployment.modelName) ?? []
    sharing.push(deployment)
    byName.set(deployment.modelName, sharing)
  }
  const groups = new Map<string, Group>()
  for (const [name, members] of byName) {
    groups.set(name, underPolicy({ name, accessGroups: accessGroupsOfModel(members), deployments: members }))
  }

  const routed = new Map<string, Group>()
  for (const routeGroup of routeGroups) {
    const group = groupOf(routeGroup, deployments, groups)
    if (group) routed.set(group.name, underPolicy(group))
  }

  const aliases = new Map(Object.entries(modelGroupAlias))
  const resolve = (name: string) => {
    const target = aliases.get(name) ?? name
    return routed.get(target) ?? groups.get(target)
  }
  // An alias may name a group that the database does not have yet.
  const known = [...aliases.keys()].filter((alias) => resolve(alias) !== undefined)
  return {
    resolve,
    names: [...new Set([...groups.keys(), ...routed.keys(), ...known])].sort(),
    groups: [...groups.values()],
    toolServers: extras.toolServers ?? new Map(),
    prompts: extras.prompts ?? new Map(),
    unread: false,
  }
}

export function deploymentIds({ groups }: Registry): ReadonlySet<string> {
  return new Set(groups.flatMap(({ deployments }) => deployments.map(({ id }) => id)))
}

/** The deployments of the file that need nothing of the database: all but those that name a credential. Throws a
 *  ConfigError that names each invalid entry. */
export function deploymentsOf(config: Config, providers: ReadonlyMap<string, Provider>): Deployment[] {
  const mistakes: Mistake[] = []
  const deployments = config.model_list.flatMap((entry, index) => {
    if (entry.gateway_params.credential !== undefined) return []
    try {
      return deploymentOf(entry, providers)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      mistakes.push({ path: `model_list[${index}]`, message: error.message })
      return []
    }
  })
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  return deployments
}

/** Throws if this build has no such provider, or if the entry's parameters are not valid for it. */
export function deploymentOf(entry: ModelEntry, providers: ReadonlyMap<string, Provider>): Deployment {
  const { gateway_params: parameters } = entry
  const provider = providers.get(parameters.provider)
  if (!provider) throw new TypeError(`provider '${parameters.provider}' is not part of this build`)
  const info = withListPrices(parameters.provider, parameters.upstream_model, entry.model_info, parameters)
  const connection = provider.connect(parameters, info.default_params)
  const adapters = provider.adaptersOf?.(connection) ?? provider.adapters
  return {
    id: entry.deployment_id,
    modelName: entry.model_name,
    provider,
    connection,
    info,
    limits: {
      ...(info.rpm_limit == null ? {} : { requests: info.rpm_limit }),
      ...(info.tpm_limit == null ? {} : { tokens: info.tpm_limit }),
      ...(info.image_pm_limit == null ? {} : { images: info.image_pm_limit }),
      ...(info.audio_seconds_pm_limit == null ? {} : { audioSeconds: info.audio_seconds_pm_limit }),
      ...(info.char_pm_limit == null ? {} : { characters: info.char_pm_limit }),
      ...(info.rerank_units_pm_limit == null ? {} : { rerankUnits: info.rerank_units_pm_limit }),
    },
    adapter: (capability, requested = capability) => (allows(info.mode, requested) ? adapters[capability] : undefined),
    timeoutSeconds: parameters.timeout,
  }
}

/** What modes include beside themselves: chat its dialects and completions, which are translated to it; others further
 *  kinds of requests of the same models. */
const INCLUDED: Readonly<Partial<Record<ModeName, readonly Capability[]>>> = {
  chat: [
    'messages',
    'count_tokens',
    'responses',
    'cohere_chat',
    'generate_content',
    'gemini_count_tokens',
    'completion',
  ],
  image_generation: ['image_edit', 'image_variation'],
  audio_speech: ['text_to_speech'],
  audio_transcription: ['audio_translation', 'speech_to_text'],
  embedding: ['cohere_embed'],
}

function allows(mode: ModelInfo['mode'], capability: Capability): boolean {
  return mode === undefined || mode === capability || INCLUDED[mode]?.includes(capability) === true
}
