import { describe, expect, it } from 'vitest'
import { asHeader, fromHeader, mirroredArguments, textAt } from '../../src/mcp/mirrored.ts'

const ofString = (header: unknown) => ({ type: 'string', 'x-mcp-header': header })
const object = (properties: object) => ({ type: 'object', properties })

describe('arguments that headers of MCP repeat', () => {
  it('at any depth of named properties', () => {
    const schema = object({ a: ofString('Region'), b: object({ c: { type: 'integer', 'x-mcp-header': 'N' } }), d: {} })
    expect(mirroredArguments(schema)).toEqual([
      { header: 'mcp-param-region', path: ['a'] },
      { header: 'mcp-param-n', path: ['b', 'c'] },
    ])
    const args = { a: 'é', b: { c: 42 } }
    expect([textAt(args, ['a']), textAt(args, ['b', 'c']), textAt({ b: null }, ['b', 'c'])]).toEqual([
      'é',
      '42',
      undefined,
    ])
    expect(textAt({}, ['toString'])).toBeUndefined()
  })

  it('a property and a value of that name ask for nothing', () => {
    const schema = object({ 'x-mcp-header': { type: 'string', default: { 'x-mcp-header': '' } } })
    expect(mirroredArguments(schema)).toEqual([])
  })

  it.each([
    ['no name', object({ a: ofString('') })],
    ['a name that no header has', object({ a: ofString('a b') })],
    ['the name of another, in other case', object({ a: ofString('X'), b: ofString('x') })],
    ['a number', object({ a: { type: 'number', 'x-mcp-header': 'A' } })],
    ['a place under a condition', { ...object({}), anyOf: [object({ a: ofString('A') })] }],
    ['a place in a list', object({ a: { type: 'array', items: ofString('A') } })],
    ['the whole', { type: 'string', 'x-mcp-header': 'A' }],
  ])('%s: invalid', (_, schema) => {
    expect(mirroredArguments(schema)).toBeUndefined()
  })

  // The examples that the protocol gives.
  it.each([
    ['us-west1', 'us-west1'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
  ])('%j in a header', (text, header) => {
    expect(asHeader(text)).toBe(header)
    expect(fromHeader(header)).toBe(text)
  })

  it('a long text in a header', () => {
    const text = 'ü'.repeat(300_000)
    expect(fromHeader(asHeader(text))).toBe(text)
  })

  it('base64 that is none cannot be read', () => {
    for (const header of ['=?base64?&?=', '=?base64?YQ?=', '=?base64?/w==?='])
      expect(fromHeader(header)).toBeUndefined()
    expect(fromHeader(undefined)).toBeUndefined()
  })
})
