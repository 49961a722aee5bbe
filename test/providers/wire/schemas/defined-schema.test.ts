import { expect, it } from 'vitest'
import { definedSchema } from '../../../../src/providers/wire/schemas/defined-schema.ts'

it('a definition is a definition whatever its name, also one that names itself', () => {
  const wanted = (place: string) =>
    `{"properties":{"a":{"$ref":"#/${place}/__proto__"}},"${place}":{"__proto__":{"anyOf":[{"$ref":"#/${place}/__proto__"}]}}}`
  expect(JSON.stringify(definedSchema(JSON.parse(wanted('definitions'))))).toBe(wanted('$defs'))
})
