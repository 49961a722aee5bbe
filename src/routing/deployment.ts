import type { ModelInfo } from '../config/sections/model-list.ts'
import type { Adapter, Capability, Connection, Provider } from '../providers/provider.ts'
import type { Capacity } from '../stores/kv/deployment-signals.ts'
import type { GroupSettings } from './group-settings.ts'

/** A deployment of a model. It is built once from its configuration and never changes. */
export interface Deployment {
  readonly id: string
  /** The public model name, which is the group's. */
  readonly modelName: string
  readonly provider: Provider
  readonly connection: Connection
  readonly info: ModelInfo
  /** The per-minute limits of `model_info`, by unit. */
  readonly limits: Capacity
  /** What it may be asked for: what the operator named in `model_info.mode`, else all that its provider can do. `asked`
   *  is what the client asked for, where this capability only carries it. */
  adapter(capability: Capability, asked?: Capability): Adapter | undefined
  /** `gateway_params.timeout`: in the place of its group's, for attempts here. */
  readonly timeoutSeconds: number | undefined
}

/** The deployments that share one public name. */
export interface Group {
  readonly name: string
  /** The labels by which callers can be given access to it. */
  readonly accessGroups: readonly string[]
  readonly deployments: readonly Deployment[]
  /** What was published for it alone. */
  readonly policy?: Partial<GroupSettings>
}
