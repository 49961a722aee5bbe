import type * as z from 'zod'
import { suggestion } from './nearest.ts'

const KINDS: Readonly<Record<string, string>> = {
  string: 'must be text; put it in quotes',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  object: 'must be a map of keys to values',
  record: 'must be a map of keys to values',
  array: 'must be a list',
}

const FORMATS: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address',
  datetime: 'must be a time such as 2031-01-31T00:00:00Z',
}

/** The message of a schema's issue for an operator. It never quotes the value, which may be a secret. */
export function sentence(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is required; add it'
  if (issue.input === null) return 'has no value; write one or remove the entry'
  switch (issue.code) {
    case 'invalid_type':
      return KINDS[issue.expected] ?? 'has a value of the wrong kind'
    case 'invalid_value': {
      const values = issue.values.map(String)
      if (values.length === 1) return `must be '${values[0]}'`
      return `must be one of ${values.join(', ')}${suggestion(issue.input, values)}`
    }
    case 'too_small':
      if (issue.origin === 'string' || issue.origin === 'array') return 'must not be empty'
      if (Number(issue.minimum) !== 0) return `must be at least ${issue.minimum}`
      return issue.inclusive ? 'must not be negative' : 'must be greater than 0'
    case 'too_big':
      if (issue.origin === 'string') return `must not be longer than ${issue.maximum} characters`
      return `must be at most ${issue.maximum}`
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'has the wrong format'
    // Of a map whose keys are a choice; other maps say more.
    case 'unrecognized_keys':
      return 'is not a known field; remove it'
    default:
      return 'is not valid'
  }
}

/** One line for each unknown key of a map. */
export function unknownKeys(keys: readonly string[], known: readonly string[]): string {
  return keys.map((key) => `is not a known field${suggestion(key, known) || '; remove it'}`).join('\n')
}
