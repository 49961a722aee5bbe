import { describe, expect, it } from 'vitest'
import { parsePrometheus } from './prometheus.ts'

const good = `# HELP calls_total Calls, by \\\\ and \\n.
# TYPE calls_total counter
calls_total{model="a\\"b\\\\c\\nd",team=""} 3
calls_total{model="z"} 1.5e3 1760000000000
# TYPE seconds histogram
seconds_bucket{le="0.1"} 1
seconds_bucket{le="+Inf"} 4
seconds_sum 2.5
seconds_count 4
`

describe('the Prometheus text format', () => {
  it('is read', () => {
    const page = parsePrometheus(good)
    expect(page.families.get('calls_total')?.help).toBe('Calls, by \\ and \n.')
    expect(page.value('calls_total', { model: 'a"b\\c\nd' })).toBe(3)
    expect(page.total('calls_total')).toBe(1503)
    expect(page.value('seconds_count')).toBe(4)
    expect(page.value('seconds_bucket', { le: '+Inf' })).toBe(4)
    expect(page.value('absent')).toBeUndefined()
    expect(() => page.value('calls_total')).toThrow('2 series')
  })

  it.each([
    ['no newline at the end', good.trimEnd()],
    ['a sample without TYPE', 'a 1\n'],
    ['TYPE after its samples', '# TYPE a gauge\na 1\n# TYPE a gauge\n'],
    ['lines that are not together', '# TYPE a gauge\na{x="1"} 1\n# TYPE b gauge\nb 1\n# HELP a late\n'],
    ['the same series twice', '# TYPE a gauge\na{x="1",y="2"} 1\na{y="2",x="1"} 1\n'],
    ['an escape that does not exist', '# TYPE a gauge\na{x="\\t"} 1\n'],
    ['an open label', '# TYPE a gauge\na{x="1} 1\n'],
    ['a raw carriage return', '# TYPE a gauge\na 1\r\n'],
    ['a value that is no number', '# TYPE a gauge\na 0x10\n'],
    ['a counter that is negative', '# TYPE a counter\na -1\n'],
    ['no +Inf bucket', good.replace('seconds_bucket{le="+Inf"} 4\n', '')],
    ['+Inf that is not the count', good.replace('seconds_count 4', 'seconds_count 5')],
    ['buckets that fall', good.replace('le="0.1"} 1', 'le="0.1"} 5')],
    [
      'bounds that do not rise',
      good.replace('seconds_bucket{le="0.1"} 1', 'seconds_bucket{le="2"} 1\nseconds_bucket{le="1"} 1'),
    ],
    ['no sum', good.replace('seconds_sum 2.5\n', '')],
    ['a bucket without le', good.replace('{le="0.1"}', '')],
  ])('with %s is refused', (_, text) => {
    expect(() => parsePrometheus(text)).toThrow(SyntaxError)
  })
})
