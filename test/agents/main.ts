import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { place, SOURCES } from '../runtimes/node/gateway-process.ts'
import { MASTER_KEY } from '../support/gateway.ts'
import { startStrictVendors, VENDOR_NAMES, type VendorName } from '../support/strict-vendors/index.ts'
import { AGENTS } from './agents.ts'
import { type Cell, cellOf, type Matrix, tableOf } from './matrix.ts'
import { observing } from './observing.ts'
import { runAgent } from './run-agent.ts'

const { values } = parseArgs({
  options: {
    /** One agent only, by its name. */
    agent: { type: 'string' },
    /** One vendor only. */
    vendor: { type: 'string' },
    /** Keeps what was found in `matrix.json`, from which the document is written. */
    write: { type: 'boolean' },
    inside: { type: 'boolean' },
  },
})

// Agents look for the internet. Where this machine allows it, they run where there is none but loopback.
if (!values.inside) {
  const again = [process.execPath, import.meta.filename, ...process.argv.slice(2), '--inside']
  const alone = ['unshare', '--net', '--map-root-user', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
  const may = spawnSync('unshare', ['--net', '--map-root-user', 'ip', 'link', 'set', 'lo', 'up']).status === 0
  const [program = '', ...args] = may ? [...alone, ...again] : again
  process.exit(spawnSync(program, args, { stdio: 'inherit' }).status ?? 1)
}

const say = (line: string) => process.stdout.write(`${line}\n`)
const agents = AGENTS.filter(({ name }) => values.agent === undefined || name === values.agent)
const vendors = VENDOR_NAMES.filter((name) => values.vendor === undefined || name === values.vendor)

const strict = await startStrictVendors()
const { start, clear } = await place(SOURCES)
const gateway = await start({ yaml: `general_settings:\n  log_level: warn\nmodel_list:\n${strict.models()}` })
await gateway.greeted()
const observed = await observing(await gateway.base())

const found: Record<string, Partial<Record<VendorName, Cell>>> = {}
for (const agent of agents) {
  for (const vendor of vendors) {
    const [before, heard] = [observed.answers.length, strict.heard.length]
    const run = await runAgent(agent, { origin: observed.origin, key: MASTER_KEY, model: vendor })
    const cell = cellOf(run.told, observed.answers.slice(before))
    found[agent.name] = { ...found[agent.name], [vendor]: cell }
    say(`${agent.name} at ${vendor}: ${cell.works ? 'works' : 'FAILS'} in ${run.seconds.toFixed(1)} s`)
    if (cell.refusal !== undefined) say(`  ${cell.refusal}`)
    for (const { refused } of strict.heard.slice(heard)) if (refused !== undefined) say(`  vendor: ${refused}`)
    if (!run.told) say(run.output.replace(/^/gm, '  | ').slice(0, 2000))
  }
}
await observed.close()
await clear()
await strict.close()

const file = new URL('matrix.json', import.meta.url)
const manifest = JSON.parse(readFileSync(new URL('package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, { version: string }>
}
const rows = agents.map((agent) => ({
  name: agent.name,
  version: manifest.packages[`node_modules/${agent.package}`]?.version ?? '',
  cells: found[agent.name] ?? {},
}))
say(`\n${tableOf(rows, vendors)}`)
if (values.write) {
  const kept = JSON.parse(readFileSync(file, 'utf8')) as Matrix
  const merged = AGENTS.flatMap(({ name }) => {
    const [own, old] = [rows.find((row) => row.name === name), kept.find((row) => row.name === name)]
    if (!own) return old ? [old] : []
    return [{ ...own, cells: { ...old?.cells, ...own.cells } }]
  })
  writeFileSync(file, `${JSON.stringify(merged, null, 2)}\n`)
}
process.exitCode = rows.some(({ cells }) => Object.values(cells).some(({ works }) => !works)) ? 1 : 0
