import { describe, expect, it } from 'vitest'
import { type Piece, readPlaceholders } from '../../../src/routing/prompts/placeholders.ts'
import { busyMs } from '../../support/busy-ms.ts'

const a: Piece = { variable: 'a' }

describe('the text of a template', () => {
  it.each<[string, readonly Piece[]]>([
    ['', []],
    ['plain } } }} { {', ['plain } } }} { {']],
    ['{{a}}', [a]],
    ['{{ \t a  }}{{a}}', [a, a]],
    ['x{{a}}y', ['x', a, 'y']],
    ['{"k":{"v":"{{a}}"}}', ['{"k":{"v":"', a, '"}}']],
    ['{{a}}}}', [a, '}}']],
    ['\\{{a}}', ['{{a}}']],
    ['\\\\{{a}}', ['\\', a]],
    ['\\\\\\{{a}}', ['\\{{a}}']],
    ['\\{{{a}', ['{{{a}']],
    ['\\ \\n {{a}}\\', ['\\ \\n ', a, '\\']],
    ['{{a}}\\{{', [a, '{{']],
    ['{{_x.y-Z9}}', [{ variable: '_x.y-Z9' }]],
    [`{{${'n'.repeat(64)}}}`, [{ variable: 'n'.repeat(64) }]],
  ])('%j is read', (text, pieces) => {
    expect(readPlaceholders(text)).toEqual({ pieces })
  })

  it.each([
    '{{',
    '{{}}',
    '{{ }}',
    '{{a',
    '{{a}',
    '{{a b}}',
    '{{9}}',
    '{{-a}}',
    '{{{a}}}',
    '{{#if a}}',
    '{{a|upper}}',
    '{{ä}}',
    '{{a\n}}',
    '{{__proto__}}',
    `{{${'n'.repeat(65)}}}`,
    `{{${' '.repeat(5000)}a}}`,
  ])('%j is refused, and quoted shortly', (text) => {
    const { error } = readPlaceholders(`before ${text}`)
    expect(error).toContain('at character 7')
    expect(error?.length).toBeLessThan(160)
  })

  it('of very many backslashes and braces is read in no time', () => {
    const busy = busyMs(() => {
      readPlaceholders('\\'.repeat(1_000_000))
      readPlaceholders('\\{{'.repeat(300_000))
      readPlaceholders('{{a}}'.repeat(200_000))
    })
    expect(busy).toBeLessThan(2000)
  })
})
