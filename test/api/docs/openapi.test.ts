import { expect, it } from 'vitest'
import { openapi } from '../../../src/api/docs/openapi.ts'
import { routes } from '../../../src/app.ts'

it('the document says of every operation who may call it, what it is for and how it fails', () => {
  const { info, paths } = openapi(routes) as {
    info: object
    paths: Record<string, Record<string, Record<string, unknown>>>
  }
  expect(info).toHaveProperty('license.identifier')
  const ids = new Set<unknown>()
  for (const [path, operations] of Object.entries(paths)) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    for (const [method, { operationId, summary, security, responses, parameters }] of Object.entries(operations)) {
      const at = `${method} ${path}`
      expect(ids.has(operationId), at).toBe(false)
      ids.add(operationId)
      expect(summary, at).toMatch(/\w/)
      expect(security, at).toBeInstanceOf(Array)
      expect(Object.keys(responses as object), at).toContain('4XX')
      const told = (parameters as { in: string; name: string }[]).filter((one) => one.in === 'path')
      expect(told.map(({ name }) => name).sort(), at).toEqual(named.sort())
    }
  }
})
