const STEPS = 4
/** The width of a label, with its distance to the next. */
const LABEL_WIDTH = 84

/** A number at or above the greatest one that makes round steps, and the steps. */
export function niceScale(greatest: number): { readonly top: number; readonly ticks: readonly number[] } {
  if (!(greatest > 0)) return { top: 1, ticks: [0] }
  const rough = greatest / STEPS
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 2.5, 5, 10].find((nice) => nice * power >= rough) ?? 10) * power
  const top = Math.ceil(greatest / step - 1e-9) * step
  return { top, ticks: Array.from({ length: Math.round(top / step) + 1 }, (_, at) => at * step) }
}

/** At most so many of the labels, at equal distances, so that they do not touch. */
export function labelEvery(count: number, width: number): number {
  return Math.max(1, Math.ceil(count / Math.max(1, Math.floor(width / LABEL_WIDTH))))
}

const COLOURS = 7

/** The colours of series by their ids: each keeps its own as long as the tab lives, so that a model looks the same on
 *  every page. `other` is grey. */
export function colourClass(id: string): string {
  if (id === OTHER || id === BEFORE) return 'c-other'
  if (id === FAILED) return 'c-bad'
  let at = assigned.get(id)
  if (at === undefined) {
    at = assigned.size % COLOURS
    assigned.set(id, at)
  }
  return `c${at}`
}
const assigned = new Map<string, number>()

/** The id of the sum of all further series, or of the normal outcome. */
export const OTHER = '\u0000other'
/** The id of failures. */
export const FAILED = '\u0000failed'

/** The id of the range before. */
export const BEFORE = '\u0000before'

export interface Series {
  readonly id: string
  readonly label: string
  /** One for each moment; null: nothing is known of it. */
  readonly values: ReadonlyArray<number | null>
}
