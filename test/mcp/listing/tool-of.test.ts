import { ToolSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import { olderList } from '../../../src/api/mcp/older-clients.ts'
import { asList } from '../../../src/lib/json/lenient.ts'
import { toolOf } from '../../../src/mcp/listing/tool-of.ts'

const inputSchema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }

// Clients refuse a whole list for one tool that is not as the protocol says.
describe('a tool that is malformed in a part is listed without the part', () => {
  const listed = (more: object) => {
    const tool = toolOf('far', { name: 'say', inputSchema, ...more })
    if ('unfit' in tool) throw new Error(tool.unfit)
    const { server: _, ...told } = tool
    // The client is one of older versions.
    for (const one of asList(olderList({ tools: [told] }).tools)) ToolSchema.parse(one)
    return told
  }

  it.each<[string, object, object]>([
    [
      'properties of true and false',
      { type: 'object', properties: { a: true, b: false, c: 'no' } },
      {
        type: 'object',
        properties: { a: {}, b: { not: {} }, c: {} },
      },
    ],
    ['no properties', { type: null, properties: null, required: 'a' }, { type: 'object' }],
    ['odd names of what is required', { ...inputSchema, required: ['a', 1, null] }, inputSchema],
  ])('input: %s', (_, schema, read) => {
    expect(listed({ inputSchema: schema }).inputSchema).toEqual(read)
  })

  it.each<[string, object, string, unknown]>([
    ['an output that is a list', { outputSchema: { type: 'array' } }, 'outputSchema', { type: 'array' }],
    ['an output of any type', { outputSchema: {} }, 'outputSchema', {}],
    ['an odd output', { outputSchema: 'any' }, 'outputSchema', undefined],
    [
      'odd hints',
      { annotations: { readOnlyHint: 'yes', title: 1, idempotentHint: true, more: 1 } },
      'annotations',
      {
        idempotentHint: true,
        more: 1,
      },
    ],
    [
      'odd icons',
      { icons: [{}, 'a', { src: 'a', sizes: '48x48' }, { src: 'b', theme: 'dark' }] },
      'icons',
      [{ src: 'b', theme: 'dark' }],
    ],
    ['an odd support of tasks', { execution: { taskSupport: 'maybe' } }, 'execution', undefined],
    ['an odd title', { title: 5 }, 'title', undefined],
  ])('%s', (_, more, member, read) => {
    expect(Object.entries(listed(more)).find(([name]) => name === member)?.[1]).toEqual(read)
  })
})
