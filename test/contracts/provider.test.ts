import { fixtures } from '../fixtures/index.ts'
import { providerSuite } from './provider.ts'

for (const set of fixtures) providerSuite(set)
