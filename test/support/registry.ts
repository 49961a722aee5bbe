import type { Config } from '../../src/config/schema.ts'
import { toolServersOf } from '../../src/mcp/tool-server.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { deploymentsOf, type Registry, registryFrom } from '../../src/routing/registry.ts'

/** The registry of what a configuration file says alone. */
export function registryOf(config: Config, providers: ReadonlyMap<string, Provider>): Registry {
  return registryFrom(deploymentsOf(config, providers), config.router_settings.model_group_alias, [], new Map(), {
    toolServers: toolServersOf(config),
  })
}
