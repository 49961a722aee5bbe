import { strategies } from '../../../src/routing/strategies/index.ts'

/** Every strategy and what comes first under it. */
export function strategyNames(): string {
  const rows = [...strategies.values()].map(({ name, meaning }) => `| \`${name}\` | ${meaning} |`)
  return ['| `routing_strategy` | |', '|---|---|', ...rows].join('\n')
}

/** Where the console reads the same. */
export const CONSOLE_STRATEGIES = 'src/console/pages/groups/strategies.ts'

const HEAD = `import type { Strategy } from './group.ts'

// Written from src/routing/strategies by \`npm run readme\`.
export const STRATEGIES: Readonly<Record<Strategy, string>> = {
`

export function consoleStrategies(): string {
  const lines = [...strategies.values()].map(({ name, meaning }) => {
    const key = /^\w+$/.test(name) ? name : `'${name}'`
    const words = `'${meaning.replaceAll('`', '').replace(/[\\']/g, '\\$&')}',`
    return `  ${key}:${key.length + words.length > LINE ? '\n   ' : ''} ${words}\n`
  })
  return `${HEAD}${lines.join('')}}\n`
}

/** What a line of code has room for, beside what every entry has. */
const LINE = 116
