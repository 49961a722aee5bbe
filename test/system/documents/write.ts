import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CONSOLE_TYPES, consoleTypes } from './console-types.ts'
import { documents } from './documents.ts'
import { withGeneratedParts } from './generated.ts'
import { CONSOLE_STRATEGIES, consoleStrategies } from './strategy-names.ts'

// npm run readme: brings the tables of the README and of docs up to date with the source, and what the
// console has of it.
for (const { path, text } of documents()) {
  const written = withGeneratedParts(text)
  if (written !== text) writeFileSync(path, written)
}
for (const [path, text] of [
  [CONSOLE_TYPES, consoleTypes()],
  [CONSOLE_STRATEGIES, consoleStrategies()],
] as const)
  writeFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), text)
