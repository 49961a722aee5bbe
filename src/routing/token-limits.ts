import type { Group } from './deployment.ts'

interface TokenLimits {
  readonly input: number | undefined
  readonly output: number | undefined
}

/** The longest input and the longest answer, in tokens, that every deployment of a group takes, as far as its operator
 *  has said. */
export function tokenLimits(group: Group | undefined): TokenLimits {
  const infos = group?.deployments.map(({ info }) => info) ?? []
  return {
    input: least(infos.map(({ max_input_tokens }) => max_input_tokens)),
    output: least(infos.map(({ max_output_tokens }) => max_output_tokens)),
  }
}

function least(limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
