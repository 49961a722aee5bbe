import { clientMatrix, clientSetups, clientsDropped } from './client-setups.ts'
import { configurationReference } from './configuration-reference.ts'
import { dialectFields } from './dialect-fields.ts'
import { endpoints } from './endpoints.ts'
import { metricNames } from './metric-names.ts'
import { pricesAsOf } from './prices-as-of.ts'
import { providerKinds } from './provider-kinds.ts'
import { rolePermissions } from './role-permissions.ts'
import { strategyNames } from './strategy-names.ts'

/** The parts of the documents that the source decides, by the name in their marker. */
export const PARTS: Readonly<Record<string, () => string>> = {
  endpoints,
  providers: providerKinds,
  fields: dialectFields,
  configuration: configurationReference,
  metrics: metricNames,
  roles: rolePermissions,
  prices: pricesAsOf,
  clients: clientMatrix,
  clientsdropped: clientsDropped,
  setups: clientSetups,
  strategies: strategyNames,
}

/** The names of the parts that a document has. */
export const partsOf = (text: string): string[] =>
  [...text.matchAll(/^<!-- begin ([a-z]+) -->$/gm)].map(([, name]) => name as string)

/** A document with its parts as they should be. */
export function withGeneratedParts(document: string): string {
  let text = document
  for (const name of partsOf(document)) {
    const write = PARTS[name]
    const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`]
    const [from, to] = [text.indexOf(begin), text.indexOf(end)]
    if (!write || to < from) throw new RangeError(`nothing writes the part between ${begin} and ${end}`)
    text = `${text.slice(0, from + begin.length)}\n${write()}\n${text.slice(to)}`
  }
  return text
}
