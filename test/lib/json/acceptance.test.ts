import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { v1 } from '../../../src/api/v1/index.ts'
import type { ModelRoute } from '../../../src/api/v1/model-route.ts'
import { acceptanceOf } from '../../../src/lib/json/acceptance.ts'
import type { Endpoint } from '../../../src/pipeline/endpoint.ts'

const kind = () =>
  z.looseObject({
    name: z.string().min(1),
    items: z.array(z.union([z.string(), z.looseObject({ type: z.enum(['a', 'b']) })])).min(1),
    on: z.boolean().nullish(),
    count: z.number().nullish(),
    anything: z.unknown(),
  })

describe('acceptanceOf', () => {
  it.each([
    [{ name: 'n', items: ['x'], anything: null }, true],
    [{ name: 'n', items: ['x'] }, false],
    [{ name: 'n', items: ['x', { type: 'b', more: 1 }], on: null, count: 2, anything: [] }, true],
    [{ name: '', items: ['x'] }, false],
    [{ name: 'n', items: [] }, false],
    [{ name: 'n', items: ['x', { type: 'c' }] }, false],
    [{ name: 'n', items: ['x'], on: 'yes' }, false],
    [{ name: 'n', items: ['x'], count: Number.POSITIVE_INFINITY }, false],
    [{ items: ['x'] }, false],
    [[], false],
    [null, false],
    ['n', false],
  ])('says of %j what the schema does', (value, accepted) => {
    expect(kind().safeParse(value).success).toBe(accepted)
    expect(acceptanceOf(kind())(value)).toBe(accepted)
  })

  it.each([
    ['a rule of its own', z.looseObject({ type: z.string() }).refine(({ type }) => type !== 'x')],
    ['a value that is changed', z.coerce.number()],
    ['a format', z.email()],
    ['a format without a pattern', z.url()],
    ['an integer of 32 bits', z.int32()],
    ['a default', z.looseObject({ type: z.string().default('x') })],
    ['a closed object', z.strictObject({ type: z.string() })],
    ['an object whose other members are dropped', z.object({ type: z.string() })],
    ['a longest text', z.string().max(3)],
    ['a record', z.record(z.string(), z.unknown())],
  ])('is never sure of a schema with %s', (_, schema) => {
    const accepts = acceptanceOf(schema)
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer(), fc.record({ type: fc.string() })), (value) => !accepts(value)),
    )
  })

  it('leaves an unsure member to the schema only where it is set', () => {
    const accepts = acceptanceOf(z.looseObject({ at: z.email().nullish() }))
    expect([accepts({}), accepts({ at: null }), accepts({ at: 'a@b.test' })]).toEqual([true, true, false])
  })

  it.each([
    ['/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true, seed: 1 }],
    ['/v1/embeddings', { model: 'm', input: ['a', 'b'], encoding_format: 'float' }],
    ['/v1/embeddings', { model: 'm', input: [[1, 2], [3]] }],
    ['/v1/completions', { model: 'm', prompt: 'a', max_tokens: 1 }],
    ['/v1/responses', { model: 'm', input: 'Hi' }],
  ])('is sure of a usual request to %s', (path, request) => {
    expect(acceptanceOf(schemaOf(path))(request)).toBe(true)
  })

  // A request of which it is sure is not looked at by its schema.
  it('accepts nothing that the schema of an endpoint refuses', () => {
    for (const { path } of endpoints) {
      const schema = schemaOf(path)
      const accepts = acceptanceOf(schema)
      fc.assert(
        fc.property(requests, (request) => {
          if (accepts(request)) expect(schema.safeParse(request).success).toBe(true)
        }),
      )
    }
  })
})

const endpoints = v1.flatMap((route) => ('endpoint' in route ? [(route as ModelRoute).endpoint] : []))

function schemaOf(path: string): z.ZodType {
  const { mode, dialect } = endpoints.find((one) => one.path === path) as Endpoint
  return (dialect?.schema ?? mode.schema)()
}

const word = fc.constantFrom('', 'user', 'assistant', 'float', 'text', 'x')
const scalar = fc.oneof(word, fc.boolean(), fc.constant(null), fc.integer())
const item = fc.oneof(scalar, fc.record({ type: scalar, role: scalar, content: scalar, name: scalar, text: scalar }))
const value = fc.oneof(scalar, item, fc.array(item, { maxLength: 3 }))
const likely = fc.array(fc.record({ type: word, role: fc.constant('user'), content: word }), {
  minLength: 1,
  maxLength: 2,
})
const FIELDS = [
  'model',
  'messages',
  'input',
  'prompt',
  'query',
  'documents',
  'stream',
  'stream_options',
  'tools',
] as const
const OTHERS = [
  'metadata',
  'max_tokens',
  'system',
  'thinking',
  'tool_choice',
  'encoding_format',
  'voice',
  'contents',
] as const
/** Requests of every kind, rightly written in about every second member. */
const requests = fc.record(
  Object.fromEntries([
    ...FIELDS.map((name) => [name, fc.oneof(name === 'messages' ? likely : fc.constant('x'), value)] as const),
    ...OTHERS.map((name) => [name, fc.oneof(fc.constant(undefined), value)] as const),
  ]),
  { requiredKeys: [] },
)
