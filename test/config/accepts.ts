type Schema = Readonly<Record<string, unknown>>

/** Whether a JSON Schema accepts a value, for the words that ours uses. Throws on any other word, so that none is
 *  passed over. */
export function accepts(schema: Schema, value: unknown): boolean {
  return Object.entries(schema).every(([word, argument]) => {
    const rule = RULES[word]
    if (!rule) throw new Error(`the schema uses ${word}, which this check does not know`)
    return rule(argument as never, value, schema)
  })
}

type Rule = (argument: never, value: unknown, schema: Schema) => boolean

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const always = () => true

const RULES: Readonly<Record<string, Rule>> = {
  $schema: always,
  $id: always,
  title: always,
  description: always,
  default: always,
  format: always,
  type: (type: string, value) => {
    if (type === 'integer') return Number.isInteger(value)
    if (type === 'null') return value === null
    if (type === 'array') return Array.isArray(value)
    return type === 'object' ? isObject(value) : typeof value === type
  },
  enum: (values: unknown[], value) => values.includes(value),
  const: (expected: unknown, value) => value === expected,
  pattern: (pattern: string, value) => typeof value !== 'string' || new RegExp(pattern, 'u').test(value),
  minLength: (length: number, value) => typeof value !== 'string' || value.length >= length,
  maxLength: (length: number, value) => typeof value !== 'string' || value.length <= length,
  minimum: (bound: number, value) => typeof value !== 'number' || value >= bound,
  maximum: (bound: number, value) => typeof value !== 'number' || value <= bound,
  exclusiveMinimum: (bound: number, value) => typeof value !== 'number' || value > bound,
  minItems: (count: number, value) => !Array.isArray(value) || value.length >= count,
  maxItems: (count: number, value) => !Array.isArray(value) || value.length <= count,
  anyOf: (options: Schema[], value) => options.some((option) => accepts(option, value)),
  items: (items: Schema, value) => !Array.isArray(value) || value.every((entry) => accepts(items, entry)),
  required: (keys: string[], value) => !isObject(value) || keys.every((key) => Object.hasOwn(value, key)),
  propertyNames: (names: Schema, value) => !isObject(value) || Object.keys(value).every((key) => accepts(names, key)),
  properties: (properties: Record<string, Schema>, value) =>
    !isObject(value) ||
    Object.entries(value).every(([key, member]) => !properties[key] || accepts(properties[key], member)),
  additionalProperties: (rest: Schema | false, value, { properties = {} }) =>
    !isObject(value) ||
    Object.entries(value)
      .filter(([key]) => !Object.hasOwn(properties as object, key))
      .every(([, member]) => rest !== false && accepts(rest, member)),
}
