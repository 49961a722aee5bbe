import type { Labels } from './metric.ts'

/** A metric's head and its series in the Prometheus text format 0.0.4. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly series: readonly (readonly [series: string, value: number])[]
}

export const seriesName = (name: string, labels: Labels) => named(name, labelText(labels))

export const named = (name: string, labels: string) => (labels === '' ? name : `${name}{${labels}}`)

export function labelText(labels: Labels): string {
  let text = ''
  for (const label in labels) text += `${text === '' ? '' : ','}${label}="${escapeLabel(labels[label] as string)}"`
  return text
}

/** The text of a bucket's bound. */
export const boundText = (bound: number) => (bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound))

export function render(families: readonly Family[]): string {
  return families
    .map(({ name, help, type, series }) => {
      const lines = series.map(([key, value]) => `${key} ${value}\n`)
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
    })
    .join('')
}

function escapeLabel(value: string): string {
  return /[\\\n"]/.test(value) ? value.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"') : value
}
