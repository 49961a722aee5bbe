import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CONSOLE_TYPES, consoleTypes } from './console-types.ts'
import { documents } from './documents.ts'
import { withGeneratedParts } from './generated.ts'

// npm run readme: brings the tables of the README and of docs up to date with the source, and the types of the console.
for (const { path, text } of documents()) {
  const written = withGeneratedParts(text)
  if (written !== text) writeFileSync(path, written)
}
writeFileSync(fileURLToPath(new URL(`../../../${CONSOLE_TYPES}`, import.meta.url)), consoleTypes())
