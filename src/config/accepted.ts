import type * as z from 'zod'
import { GatewayError } from '../lib/errors.ts'
import { mistakesOf } from './load.ts'
import { sentence } from './sentences.ts'

/** A client's value, parsed by a schema. Throws a refusal that names the field of the first mistake. */
export function accepted<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value, { error: sentence })
  if (result.success) return result.data
  const [first] = result.error.issues.flatMap(mistakesOf)
  throw mistake(first?.path ?? 'top level', first?.message ?? 'is not valid')
}

/** The refusal of one field. */
export function mistake(path: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${path}: ${message}`, { param: path })
}
