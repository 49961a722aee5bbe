import { isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'

/** Where a schema has its definitions, which count only where something refers to them. */
const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions'])

/** Whether a schema refers to itself, or a definition of it does. Anthropic and Bedrock cannot hold a model to such a
 *  schema, and refuse it. */
export function isRecursive(root: unknown): boolean {
  const open = new Set(['#'])
  const seen = new Set<string>()
  const leadsBack = (value: unknown): boolean => {
    if (Array.isArray(value)) return value.some(leadsBack)
    if (!isRecord(value)) return false
    return Object.entries(value).some(([name, inner]) => {
      if (name === '$ref' && typeof inner === 'string') return followed(inner)
      return !DEFINITIONS.has(name) && leadsBack(inner)
    })
  }
  const followed = (reference: string): boolean => {
    if (open.has(reference)) return true
    if (seen.has(reference)) return false
    seen.add(reference)
    open.add(reference)
    const found = leadsBack(targetOf(root, reference))
    open.delete(reference)
    return found
  }
  return leadsBack(root)
}

/** What a reference within the schema names. */
export function targetOf(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined
  const steps = reference.slice(2).split('/')
  return steps.reduce((value: unknown, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    return isRecord(value) && Object.hasOwn(value, name) ? (value as JsonRecord)[name] : undefined
  }, root)
}
