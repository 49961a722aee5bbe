import { parseDocument, stringify } from 'yaml'
import type { Fields } from '../../../../api/ui/records/record-fields.ts'
import { isMap } from '../../../../config/fields.ts'

/** The format of the file. A build reads its own and those before it. */
const FORMAT = 'model-gateway/1'

const HEAD = `# Records of a model gateway: written by \`model-gateway export\`, read by \`model-gateway import\`.
# A value [secret] stands for a secret that the installation keeps; os.environ/NAME gives one at the import.
`

/** Sections of records by name. */
export type Sections = Readonly<Record<string, readonly Fields[]>>

/** The text of a file: the same records give the same text. */
export function textOf(sections: Sections): string {
  return (
    HEAD + stringify({ format: FORMAT, ...sections }, { lineWidth: 0, version: '1.2', aliasDuplicateObjects: false })
  )
}

/** The sections of a file. Throws where it is none, with the place. */
export function sectionsOf(text: string, known: readonly string[]): Sections {
  const document = parseDocument(text, { version: '1.2', stringKeys: true, logLevel: 'error' })
  const [error] = document.errors
  if (error) {
    const { line = 1, col = 1 } = error.linePos?.[0] ?? {}
    // The parser's own message quotes the file, which may hold secrets.
    throw new Error(`line ${line}, column ${col}: this is not valid YAML (${error.code})`)
  }
  const { format, ...sections }: Fields = Object(document.toJS({ maxAliasCount: 100 }))
  if (format !== FORMAT) {
    const found = format === undefined ? 'none' : `'${format}'`
    throw new Error(`format: is ${found}; this build reads '${FORMAT}', which \`model-gateway export\` writes`)
  }
  for (const [name, records] of Object.entries(sections)) {
    if (!known.includes(name)) throw new Error(`${name}: is no section of a file; there are ${known.join(', ')}`)
    if (!Array.isArray(records)) throw new Error(`${name}: must be a list of records`)
    const odd = records.findIndex((record) => !isMap(record))
    if (odd >= 0) throw new Error(`${name}[${odd}]: must be a map of fields`)
  }
  return sections as Sections
}

/** A value whose maps are in one order, so that equal values have equal texts. */
export function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (!isMap(value)) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, ordered(value[name])]))
}

export const isSame = (one: unknown, other: unknown) => JSON.stringify(ordered(one)) === JSON.stringify(ordered(other))
