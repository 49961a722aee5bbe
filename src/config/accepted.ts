import type * as z from 'zod'
import { GatewayError } from '../lib/errors.ts'
import { mistakesOf } from './load.ts'
import { sentence } from './sentences.ts'

/** A client's value, parsed by a schema. Throws a refusal that names the field of the first mistake. */
export function accepted<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value, { error: sentence })
  if (result.success) return result.data
  const [first] = result.error.issues.flatMap(ofNearest).flatMap(mistakesOf)
  throw mistake(first?.path ?? 'top level', first?.message ?? 'is not valid')
}

/** A whole value that fits none of several forms is told about the form that knows most of its fields. */
function ofNearest(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.path.length > 0) return [issue]
  const unknown = (issues: readonly z.core.$ZodIssue[]) =>
    issues.flatMap((one) => (one.code === 'unrecognized_keys' ? one.keys : [])).length
  const [nearest] = [...issue.errors].sort((one, other) => unknown(one) - unknown(other))
  return nearest ?? [issue]
}

/** The refusal of one field. */
export function mistake(path: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${path}: ${message}`, { param: path })
}
