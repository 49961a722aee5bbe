import type { ModelInfo } from '../config/sections/model-list.ts'
import type { Adapter, Capability, Connection, Provider } from '../providers/provider.ts'
import type { Capacity } from '../stores/kv/deployment-signals.ts'
import type { GroupSettings } from './group-settings.ts'

/** A deployment of a model. It is built once from its configuration and never changes. */
export interface Deployment {
  readonly id: string
  /** The public model name, which is also the group's name. */
  readonly modelName: string
  readonly provider: Provider
  readonly connection: Connection
  readonly info: ModelInfo
  /** The per-minute limits of `model_info`, by unit. */
  readonly limits: Capacity
  /** The adapter of a capability; undefined if the provider does not have it, or if `model_info.mode` excludes it.
   *  `requested` is the capability that the client asked for, if it is translated to this one. */
  adapter(capability: Capability, requested?: Capability): Adapter | undefined
  /** `gateway_params.timeout`, which replaces the group's timeout for attempts at this deployment. */
  readonly timeoutSeconds: number | undefined
  /** An administrator has it get no new calls. */
  readonly drained?: true
}

/** The deployments that share one public name. */
export interface Group {
  readonly name: string
  /** The labels by which callers get access to the group. */
  readonly accessGroups: readonly string[]
  readonly deployments: readonly Deployment[]
  /** The group's own published settings. */
  readonly policy?: Partial<GroupSettings>
}
