/** The word of a family stands before the number or behind it, and the day that a name ends with is none. */
const VERSION = /claude-(?:[a-z]+-)?v?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/

/** The version of a Claude model as one number: 405 is 4.5. A Claude without a number is taken for the newest; NaN of other
 *  models, with which every comparison fails. */
export function claudeVersion(model: string): number {
  const [, major, minor = 0] = VERSION.exec(model) ?? []
  if (major !== undefined) return Number(major) * 100 + Number(minor)
  return model.includes('claude-') ? Number.POSITIVE_INFINITY : Number.NaN
}
