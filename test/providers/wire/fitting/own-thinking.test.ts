import { describe, expect, it } from 'vitest'
import { ownThinking } from '../../../../src/providers/wire/fitting/own-thinking.ts'

describe('thinking that goes back to a vendor', () => {
  const own = { type: 'thinking', thinking: 'So…', signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h==' }
  const redacted = { type: 'redacted_thinking', data: 'EmwKAhgB' }
  const gemini = { type: 'thinking', thinking: 'Hm.', signature: 'gemini:CpcBAQ==' }

  it('is left out where another vendor signed it', () => {
    expect(ownThinking({ thinking_blocks: [own, gemini, redacted] })).toEqual([own, redacted])
    expect(ownThinking({})).toEqual([])
  })

  /** Claude wants a signature on each, DeepSeek of Bedrock takes none back, and what signs nothing does without. */
  it('is left out where nobody signed it', () => {
    const unsigned = [
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'thinking', thinking: 'Hm.', signature: '' },
    ]
    expect(ownThinking({ thinking_blocks: [...unsigned, own] })).toEqual([own])
  })
})
