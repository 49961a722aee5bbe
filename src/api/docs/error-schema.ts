import { GatewayError } from '../../lib/errors.ts'
import { errorBody } from '../failures.ts'
import type { RouteContract } from '../route.ts'

/** Errors that differ in what can be said of them. */
const ERRORS = [
  new GatewayError('invalid_request', 'A field is wrong.', { param: 'model' }),
  new GatewayError('rate_limited', 'A limit is reached.', {
    param: 'key_rpm',
    code: 'key_rpm_exceeded',
    retryAfterSeconds: 1,
  }),
  new GatewayError('internal', 'Something went wrong.'),
]

/** The schema of the errors of a route, read off errors that it writes: what tells a shape is what makes it. */
export function errorSchema(written: NonNullable<RouteContract['errorBody']> = errorBody): object {
  const bodies = ERRORS.map((error) => JSON.stringify(written(error, 'req_1', () => undefined)))
  return schemaOf(bodies.map((body): unknown => JSON.parse(body)))
}

type Members = Readonly<Record<string, unknown>>

/** The schema that values have in common: members that not all of them have are optional. */
function schemaOf(values: readonly unknown[]): object {
  const types = [...new Set(values.map(typeOf))]
  const objects = values.filter((value): value is Members => typeOf(value) === 'object')
  const lists = values.filter((value) => Array.isArray(value))
  return {
    type: types.length === 1 ? types[0] : types,
    ...(objects.length > 0 ? membersOf(objects) : {}),
    ...(lists.length > 0 ? { items: schemaOf(lists.flat()) } : {}),
  }
}

function membersOf(objects: readonly Members[]): object {
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))]
  const having = (name: string) => objects.filter((object) => Object.hasOwn(object, name))
  return {
    required: names.filter((name) => having(name).length === objects.length),
    properties: Object.fromEntries(names.map((name) => [name, schemaOf(having(name).map((object) => object[name]))])),
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
