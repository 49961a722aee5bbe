import { writeFileSync } from 'node:fs'
import { documents } from './documents.ts'
import { withGeneratedParts } from './generated.ts'

// npm run readme: brings the tables of the README and of docs up to date with the source.
for (const { path, text } of documents()) {
  const written = withGeneratedParts(text)
  if (written !== text) writeFileSync(path, written)
}
