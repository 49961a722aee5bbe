export interface Sample {
  /** As printed: with `_bucket`, `_sum` or `_count` for a histogram. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly type: string
  readonly help: string | undefined
  readonly samples: readonly Sample[]
}

export interface Exposition {
  readonly families: ReadonlyMap<string, Family>
  /** The one series of that name whose labels include these; undefined when there is none, an error when there are more. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined
  /** The sum of all of them, 0 when there is none. */
  total(name: string, labels?: Readonly<Record<string, string>>): number
}

interface OpenFamily {
  name: string
  type: string | undefined
  help: string | undefined
  samples: Sample[]
}

const METRIC = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: (-?\d+))?$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(,|$)/y
const NUMBER = /^(?:[+-]?Inf|NaN|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/
const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped']

/** Reads the Prometheus text format 0.0.4 and throws at the first thing that it, or a careful exporter, forbids. */
export function parsePrometheus(text: string): Exposition {
  const families = new Map<string, OpenFamily>()
  const series = new Set<string>()
  let current: OpenFamily | undefined
  if (text !== '' && !text.endsWith('\n')) throw new SyntaxError('the last line does not end')

  const enter = (name: string): OpenFamily => {
    if (current?.name === name) return current
    if (families.has(name)) throw new SyntaxError(`the lines of ${name} are not together`)
    current = { name, type: undefined, help: undefined, samples: [] }
    families.set(name, current)
    return current
  }

  for (const [index, line] of text.split('\n').entries()) {
    try {
      if (line === '') continue
      if (/^# (HELP|TYPE)\b/.test(line)) readHeader(line, enter)
      else if (!line.startsWith('#')) readSample(line, current, series)
    } catch (error) {
      throw new SyntaxError(`line ${index + 1}: ${(error as Error).message}: ${line}`)
    }
  }
  for (const family of families.values()) checkFamily(family)

  const matching = (name: string, labels: Readonly<Record<string, string>>) =>
    [...families.values()]
      .flatMap((family) => family.samples)
      .filter((sample) => sample.name === name)
      .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
  return {
    families: families as ReadonlyMap<string, Family>,
    value(name, labels = {}) {
      const found = matching(name, labels)
      if (found.length > 1) throw new RangeError(`${found.length} series of ${name} match ${JSON.stringify(labels)}`)
      return found[0]?.value
    },
    total: (name, labels = {}) => matching(name, labels).reduce((sum, sample) => sum + sample.value, 0),
  }
}

function readHeader(line: string, enter: (name: string) => OpenFamily): void {
  const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+)(?: (.*))?$/.exec(line) ?? []
  if (!METRIC.test(name)) throw new SyntaxError('no metric name')
  const family = enter(name)
  if (family.samples.length > 0) throw new SyntaxError(`${kind} after a sample`)
  if (kind === 'HELP') {
    if (family.help !== undefined) throw new SyntaxError('a second HELP')
    family.help = unescaped(rest, /\\[\\n]/)
    return
  }
  if (family.type !== undefined) throw new SyntaxError('a second TYPE')
  if (!TYPES.includes(rest)) throw new SyntaxError('no such type')
  family.type = rest
}

function readSample(line: string, family: OpenFamily | undefined, series: Set<string>): void {
  const [, name, labelText, valueText = ''] = SAMPLE.exec(line) ?? []
  if (name === undefined || !NUMBER.test(valueText)) throw new SyntaxError('not a sample')
  if (!family?.type || !namesOf(family).includes(name)) throw new SyntaxError('a sample without its TYPE')
  const labels = labelText === undefined ? {} : readLabels(labelText)
  const identity = JSON.stringify([name, Object.entries(labels).sort()])
  if (series.has(identity)) throw new SyntaxError('the same series twice')
  series.add(identity)
  family.samples.push({ name, labels, value: Number(valueText.replace('Inf', 'Infinity')) })
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  let at = 0
  while (at < text.length) {
    LABEL.lastIndex = at
    const [whole, name, value] = LABEL.exec(text) ?? []
    if (whole === undefined || name === undefined || value === undefined) throw new SyntaxError('bad labels')
    if (name.startsWith('__') || Object.hasOwn(labels, name)) throw new SyntaxError(`bad label ${name}`)
    labels[name] = unescaped(value, /\\[\\n"]/)
    at += whole.length
  }
  return labels
}

function unescaped(text: string, allowed: RegExp): string {
  return text.replace(/\\(?:.|$)/g, (pair) => {
    if (!allowed.test(pair)) throw new SyntaxError(`no such escape: ${pair}`)
    return pair === '\\n' ? '\n' : pair.slice(1)
  })
}

function namesOf({ name, type }: OpenFamily): string[] {
  if (type === 'histogram') return [`${name}_bucket`, `${name}_sum`, `${name}_count`]
  return type === 'summary' ? [name, `${name}_sum`, `${name}_count`] : [name]
}

function checkFamily(family: OpenFamily): void {
  if (family.type === undefined) throw new SyntaxError(`${family.name} has no TYPE`)
  if (family.type === 'counter') {
    const bad = family.samples.find((sample) => !(sample.value >= 0))
    if (bad) throw new SyntaxError(`the counter ${family.name} is ${bad.value}`)
  }
  if (family.type === 'histogram') checkHistogram(family)
}

function checkHistogram({ name, samples }: OpenFamily): void {
  const groups = new Map<string, Sample[]>()
  for (const sample of samples) {
    const { le, ...others } = sample.labels
    if ((le !== undefined) !== sample.name.endsWith('_bucket')) throw new SyntaxError(`${name}: le belongs to buckets`)
    const group = JSON.stringify(Object.entries(others).sort())
    groups.set(group, [...(groups.get(group) ?? []), sample])
  }
  for (const [group, members] of groups) {
    const only = (suffix: string) => members.find((sample) => sample.name === `${name}_${suffix}`)?.value
    const buckets = members.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map((sample) => Number((sample.labels.le ?? '').replace('Inf', 'Infinity')))
    const rising = (list: number[], strictly: boolean) =>
      list.every((value, index) => index === 0 || value - (list[index - 1] ?? 0) > (strictly ? 0 : -1e-9))
    const problem =
      only('sum') === undefined || only('count') === undefined
        ? 'lacks _sum or _count'
        : bounds.at(-1) !== Number.POSITIVE_INFINITY
          ? 'lacks its +Inf bucket at the end'
          : bounds.some(Number.isNaN) || !rising(bounds, true)
            ? 'has bounds that do not rise'
            : !rising(
                  buckets.map((sample) => sample.value),
                  false,
                )
              ? 'has buckets that fall'
              : buckets.at(-1)?.value !== only('count')
                ? 'has a +Inf bucket that is not its count'
                : undefined
    if (problem) throw new SyntaxError(`histogram ${name} ${group} ${problem}`)
  }
}
