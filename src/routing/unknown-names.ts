import { pathText } from '../config/config-error.ts'
import { groupReferences } from '../config/group-names.ts'
import type { Config } from '../config/schema.ts'

/** What may be named, as far as it is known now. */
interface Known {
  readonly group: (name: string) => boolean
  readonly credential: (name: string) => boolean
}

/** Something that is no mistake, but worth a look. */
export interface ConfigNote {
  readonly path: string
  /** Continues the sentence that the path begins. */
  readonly message: string
}

/** The places of a configuration that name a model group or a credential which there is not: the database can bring it
 *  later. */
export function unknownNames(config: Config, known: Known): ConfigNote[] {
  const credentials = config.model_list.flatMap(({ gateway_params: { credential: name } }, index) =>
    name === undefined ? [] : [{ path: ['model_list', index, 'gateway_params', 'credential'], name }],
  )
  const unknown = [
    ...groupReferences(config).filter(({ name }) => !known.group(name)),
    ...credentials.filter(({ name }) => !known.credential(name)),
  ]
  return unknown.map(({ path, name }) => ({
    path: pathText(path),
    message: `names '${name}', which there is not yet`,
  }))
}
