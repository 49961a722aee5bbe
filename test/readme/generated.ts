import { configurationReference } from './configuration-reference.ts'
import { endpoints } from './endpoints.ts'
import { providerKinds } from './provider-kinds.ts'

/** The parts of the README that the source decides, by the name in their marker. */
const PARTS: Readonly<Record<string, () => string>> = {
  endpoints,
  providers: providerKinds,
  configuration: configurationReference,
}

/** The README with those parts as they should be. */
export function withGeneratedParts(readme: string): string {
  let text = readme
  for (const [name, write] of Object.entries(PARTS)) {
    const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`]
    const [from, to] = [text.indexOf(begin), text.indexOf(end)]
    if (from === -1 || to < from) throw new RangeError(`the README has no part between ${begin} and ${end}`)
    text = `${text.slice(0, from + begin.length)}\n${write()}\n${text.slice(to)}`
  }
  return text
}
