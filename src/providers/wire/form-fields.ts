import type { FormFields } from '../../lib/forms/form-parts.ts'

/** A value as the fields of a form: a list repeats its name with `[]`, an object is written as JSON. */
export function formFields(name: string, value: unknown): FormFields {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.flatMap((one) => formFields(`${name}[]`, one))
  return [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]]
}
