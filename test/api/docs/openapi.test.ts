import { expect, it } from 'vitest'
import * as z from 'zod'
import { openapi } from '../../../src/api/docs/openapi.ts'
import { routes } from '../../../src/app.ts'
import { GatewayError } from '../../../src/lib/errors.ts'

type Operations = Record<string, Record<string, Record<string, unknown>>>
const document = openapi(routes) as { info: object; paths: Operations; webhooks: Operations }

it('every webhook has a name and needs no credential of ours; no alternative of a field is anything at all', () => {
  const posts = Object.values(document.webhooks).map(({ post }) => post)
  expect(posts.length).toBeGreaterThan(3)
  for (const post of posts) expect(post).toMatchObject({ operationId: expect.stringMatching(/^on[A-Z]/), security: [] })
  expect(new Set(posts.map((post) => post?.operationId)).size).toBe(posts.length)
  const empty: string[] = []
  const look = (node: unknown, at: string): void => {
    if (typeof node !== 'object' || node === null) return
    for (const [name, child] of Object.entries(node)) {
      if (/^(anyOf|oneOf)$/.test(name) && Array.isArray(child)) {
        if (child.some((one) => Object.keys(one).length === 0)) empty.push(at)
      }
      look(child, `${at}/${name}`)
    }
  }
  look(document, '')
  expect(empty).toEqual([])
})

it('the document says of every operation who may call it, what it is for and how it fails', () => {
  const { info, paths } = document
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

it('errors are described as clients of each path get them, and so are the files that a list is exported as', () => {
  type Described = { content: Record<string, { schema: Parameters<typeof z.fromJSONSchema>[0] }> }
  const error = new GatewayError('rate_limited', 'Too much.', { param: 'key_rpm', retryAfterSeconds: 3 })
  for (const { contract } of routes) {
    const { errorBody, path, method } = contract
    if (!errorBody) continue
    const { '4XX': described } = (document.paths[path]?.[method]?.responses ?? {}) as Record<string, Described>
    const body: unknown = JSON.parse(JSON.stringify(errorBody(error, 'req_1', () => undefined)))
    const schema = described?.content['application/json']?.schema ?? {}
    expect(z.fromJSONSchema(schema).safeParse(body), path).toMatchObject({ success: true })
    expect(Object.keys(body as object), path).toEqual(Object.keys((schema as { properties: object }).properties))
  }
  for (const path of ['/ui/api/logs', '/ui/api/spend/report', '/ui/api/audit/events']) {
    const { 200: answer } = (document.paths[path]?.get?.responses ?? {}) as Record<string, Described>
    expect(Object.keys(answer?.content ?? {}), path).toEqual(['application/json', 'text/csv', 'application/jsonl'])
  }
})
