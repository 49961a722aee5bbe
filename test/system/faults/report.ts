import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

const SUITES = ['faults', 'hedge', 'outage', 'explain', 'continuation', 'native-continuation'].map(
  (name) => `test/runtime/${name}.test.ts`,
)

/** Runs the faults on one runtime: what became of each, by its name. */
async function results(project: string, folder: string): Promise<ReadonlyMap<string, string>> {
  const file = join(folder, `${project}.json`)
  const options = ['run', '--project', project, '--reporter=json', `--outputFile=${file}`, ...SUITES]
  const child = spawn('vitest', options, { stdio: ['ignore', 'ignore', 'inherit'] })
  await new Promise((resolve) => child.once('close', resolve))
  const { testResults } = JSON.parse(await readFile(file, 'utf8')) as Report
  return new Map(
    testResults.flatMap(({ assertionResults }) => assertionResults.map((one) => [one.fullName, one.status])),
  )
}

const folder = await mkdtemp(join(tmpdir(), 'gateway-faults-'))
const node = await results('node', folder)
const workerd = await results('workerd', folder)
await rm(folder, { recursive: true })

process.stdout.write('node     workerd  fault\n')
for (const name of new Set([...node.keys(), ...workerd.keys()])) {
  const [onNode, onWorkerd] = [node.get(name) ?? 'missing', workerd.get(name) ?? 'missing']
  process.stdout.write(`${onNode.padEnd(8)} ${onWorkerd.padEnd(8)} ${name}\n`)
  if (onNode !== 'passed' || onWorkerd !== 'passed') process.exitCode = 1
}
if (node.size === 0) process.exitCode = 1
