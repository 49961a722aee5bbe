import type * as z from 'zod'

/** Tells of a value whether a schema accepts it. A yes is certain; after a no the schema itself has to look. */
export type Acceptance = (value: unknown) => boolean

const known = new WeakMap<z.core.$ZodType, Acceptance>()

/** The acceptance of a schema for values that JSON can hold. Parsing by the schema copies the whole value, which costs
 *  several times as much. */
export function acceptanceOf(schema: z.core.$ZodType): Acceptance {
  let accepts = known.get(schema)
  if (!accepts) {
    accepts = compiled(schema)
    known.set(schema, accepts)
  }
  return accepts
}

type Definition = z.core.$ZodTypeDef & {
  readonly checks?: readonly z.core.$ZodCheck[]
  readonly innerType?: z.core.$ZodType
  readonly element?: z.core.$ZodType
  readonly options?: readonly z.core.$ZodType[]
  readonly entries?: Readonly<Record<string, unknown>>
  readonly values?: readonly unknown[]
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>
  readonly format?: string
  readonly catchall?: z.core.$ZodType
}

/** Members of definitions that are understood. Any other may change what a schema accepts. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  ...['type', 'checks', 'error', 'innerType', 'element', 'options', 'entries', 'values', 'shape', 'catchall'],
  ...['format', 'check', 'abort'],
])

const unsure: Acceptance = () => false

function compiled(schema: z.core.$ZodType): Acceptance {
  const definition = schema._zod.def as Definition
  const kind = KINDS[definition.type]
  if (!kind || Object.keys(definition).some((member) => !UNDERSTOOD.has(member))) return unsure
  const accepts = kind(definition)
  const least = leastLength(definition.checks ?? [])
  if (least === undefined) return unsure
  return least === 0 ? accepts : (value) => accepts(value) && (value as { readonly length: number }).length >= least
}

/** The least length that the checks of a definition ask for; undefined if they ask for more than a length. */
function leastLength(checks: readonly z.core.$ZodCheck[]): number | undefined {
  let least = 0
  for (const { _zod } of checks) {
    const { check, minimum } = _zod.def as { readonly check: string; readonly minimum?: number }
    if (check !== 'min_length' || minimum === undefined) return undefined
    least = Math.max(least, minimum)
  }
  return least
}

const KINDS: Readonly<Record<string, (definition: Definition) => Acceptance>> = {
  // A member that may be anything has to be there.
  unknown: () => (value) => value !== undefined,
  string: ({ format }) => (format === undefined ? (value) => typeof value === 'string' : unsure),
  boolean: () => (value) => typeof value === 'boolean',
  number: ({ format }) =>
    format === undefined ? Number.isFinite : format === 'safeint' ? Number.isSafeInteger : unsure,
  enum: ({ entries = {} }) => oneOf(Object.values(entries)),
  literal: ({ values = [] }) => oneOf(values),
  nullable: ({ innerType }) => orValue(innerType, null),
  optional: ({ innerType }) => orValue(innerType, undefined),
  union({ options = [] }) {
    const all = options.map(compiled)
    return (value) => all.some((accepts) => accepts(value))
  },
  array({ element }) {
    const accepts = element ? compiled(element) : unsure
    return (value) => Array.isArray(value) && value.every(accepts)
  },
  object({ shape = {}, catchall }) {
    if (catchall?._zod.def.type !== 'unknown') return unsure
    const members = Object.entries(shape).map(([name, member]) => [name, compiled(member)] as const)
    return (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
      for (const [name, accepts] of members) if (!accepts((value as Record<string, unknown>)[name])) return false
      return true
    }
  },
}

function oneOf(values: readonly unknown[]): Acceptance {
  const set = new Set(values)
  return (value) => set.has(value)
}

function orValue(innerType: z.core.$ZodType | undefined, other: null | undefined): Acceptance {
  const accepts = innerType ? compiled(innerType) : unsure
  return (value) => value === other || accepts(value)
}
