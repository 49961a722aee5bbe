import type { Variable, Variables } from './prompt.ts'

/** The values that were typed, each of the type of its variable. What was left empty is not given. */
export function valuesOf(variables: Variables, typed: Readonly<Record<string, string>>): Record<string, unknown> {
  const given = Object.entries(variables).filter(([name]) => typed[name])
  return Object.fromEntries(given.map(([name, variable]) => [name, readValue(variable, typed[name] ?? '')]))
}

/** A typed text as a value of the type. What cannot be read as JSON stays a text, which the gateway refuses with the reason. */
export function readValue({ type }: Pick<Variable, 'type'>, text: string): unknown {
  if (type === 'string' || type === 'enum') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
