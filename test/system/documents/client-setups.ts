import { readFileSync } from 'node:fs'
import { AGENTS } from '../../agents/agents.ts'
import { droppedOf, type Matrix, tableOf } from '../../agents/matrix.ts'
import { VENDOR_NAMES } from '../../support/strict-vendors/index.ts'

const HERE = { origin: 'http://localhost:8787', key: 'sk-…', model: 'gpt' }

/** How each agent is told to use the gateway: what the test of agents runs, with a user's address and key. */
export const clientSetups = (): string =>
  AGENTS.map(({ name, package: from, command, endpoint, setup }) => {
    const { env, files = {}, run, offline = {} } = setup(HERE)
    const exported = Object.entries(env).map(([variable, value]) => `export ${variable}=${value}`)
    const alone = Object.entries(offline).map(([variable, value]) => `${variable}=${value}`)
    const written = Object.entries(files).map(([path, text]) => {
      const kind = path.slice(path.lastIndexOf('.') + 1)
      return `\`${path}\`:\n\n\`\`\`${kind}\n${text}\`\`\``
    })
    return [
      `### ${name}`,
      `\`npm install -g ${from}\`; it asks \`${endpoint}\`.`,
      ...written,
      `\`\`\`sh\n${[...exported, [command, ...run, "'Say hello'"].join(' ')].join('\n')}\n\`\`\``,
      ...(alone.length > 0 ? [`Without internet: \`${alone.join(' ')}\`.`] : []),
    ].join('\n\n')
  }).join('\n\n')

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')) as Matrix
const both = (write: (matrix: Matrix, vendors: readonly string[]) => string) =>
  ['agents/matrix.json', 'clients/matrix.json'].map((path) => write(read(path), VENDOR_NAMES)).join('\n\n')

/** What the tests of clients have found last. */
export const clientMatrix = (): string => both(tableOf)
export const clientsDropped = (): string => both(droppedOf)
