import { strategies } from '../../../src/routing/strategies/index.ts'

/** Every strategy and what comes first under it. */
export function strategyNames(): string {
  const rows = [...strategies.values()].map(({ name, meaning }) => `| \`${name}\` | ${meaning} |`)
  return ['| `routing_strategy` | |', '|---|---|', ...rows].join('\n')
}
