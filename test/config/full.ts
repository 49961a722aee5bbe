import { readFileSync } from 'node:fs'

/** A file that uses every key, and the environment it names. Each secret in them holds the word canary. */
export const fullYaml = readFileSync(new URL('../fixtures/config/full.yaml', import.meta.url), 'utf8')
export const fullEnvironment = {
  MASTER: 'canary-master-0123456789abcdef',
  AZURE_KEY: 'canary-azure-key',
  USER_RPM: ' 60 ',
  CACHE: 'True',
  IMAGE_PRICE: '0.08',
}
