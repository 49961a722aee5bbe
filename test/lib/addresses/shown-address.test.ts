import { describe, expect, it } from 'vitest'
import { keysIn, shownAddress } from '../../../src/lib/addresses/shown-address.ts'

describe('an address is shown without what may be a credential', () => {
  it.each([
    ['https://mcp.example.com/mcp', 'https://mcp.example.com/mcp'],
    ['https://x.example/mcp?exaApiKey=1f2e&tools=a,b', 'https://x.example/mcp?exaApiKey=[secret]&tools=[secret]'],
    ['https://x.example/?sk-1&a=b=c==&d=', 'https://x.example/?[secret]&a=[secret]&d='],
    ['https://hooks.example/services/T0/B0/XXXXyyyyXXXXyyyyXXXX', 'https://hooks.example/services/T0/B0/[secret]'],
    ['https://x.example/fc-0123456789abcdef01/v2/mcp', 'https://x.example/[secret]/v2/mcp'],
    ['https://a-long-host-name-with-1-digit.example/a-path-of-many-words-alone', undefined],
    ['http://localhost:4318', undefined],
  ])('%s', (address, shown = address) => {
    expect(shownAddress(address)).toBe(shown)
    expect(shownAddress(shown)).toBe(shown)
  })

  it('and answers without what is one by its name', () => {
    expect(keysIn('https://x.example/0123456789abcdef0123?project=abc&apiKey=one&x-token=two=')).toEqual([
      'one',
      'two=',
    ])
  })
})
