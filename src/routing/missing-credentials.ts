import { pathText } from '../config/config-error.ts'
import type { Config } from '../config/schema.ts'
import type { Provider } from '../providers/provider.ts'
import type { ConfigNote } from './unknown-names.ts'

/** The deployments at their vendor's own address without what it asks for as a credential: every call will be refused. At
 *  another address, or with headers of the operator's, a proxy may add it. */
export function missingCredentials(config: Config, providers: ReadonlyMap<string, Provider>): ConfigNote[] {
  return config.model_list.flatMap(({ gateway_params: given }, index) => {
    const { credentials = [] } = providers.get(given.provider)?.profile ?? {}
    if (given.credential !== undefined || given.api_base !== undefined || given.headers !== undefined) return []
    if (credentials.length === 0 || credentials.some((set) => set.every((name) => given[name] !== undefined))) return []
    const wanted = credentials.map((set) => set.join(' with ')).join(' or ')
    const path = pathText(['model_list', index, 'gateway_params'])
    return [{ path, message: `has no ${wanted}, without which ${given.provider} refuses every call` }]
  })
}
