import { readFileSync, writeFileSync } from 'node:fs'
import { withGeneratedParts } from './generated.ts'

// npx node test/readme/write.ts: brings the README's tables up to date with the source.
const path = new URL('../../README.md', import.meta.url)
writeFileSync(path, withGeneratedParts(readFileSync(path, 'utf8')))
