import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../../../src/routing/configuration.ts'
import { withGateway } from '../../support/with-gateway.ts'

const folder = fileURLToPath(new URL('../../../deploy/', import.meta.url))
const read = (path: string) => readFileSync(folder + path, 'utf8')
const gateway = withGateway(`
model_list:
  - {model_name: gpt, deployment_id: gpt-1, gateway_params: {model: echo/gpt}}
`)

interface Panel {
  readonly title: string
  readonly type: string
  readonly targets?: readonly { readonly expr: string }[]
}
const panels: readonly Panel[] = JSON.parse(read('grafana/model-gateway.json')).panels
const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
const rules: readonly { expr: string; alert?: string; record?: string }[] = parse(
  read('prometheus/alerts.yml'),
).groups.flatMap((group: { rules: unknown }) => group.rules)

/** The names of metrics in PromQL. */
const namesIn = (promql: string) =>
  [...promql.replace(/"[^"]*"/g, '""').matchAll(/\b(?:gateway|process|nodejs)_[a-z_0-9]+/g)].map(([name]) => name)

it('asks for metrics that there are, in alerts and panels', async () => {
  expect((await gateway.chat({ model: 'gpt', messages: [{ role: 'user', content: 'Hello' }] })).status).toBe(200)
  const page = await (await fetch(`${gateway.url}/metrics`)).text()
  const there = new Set([...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
  const asked = new Set([...queries, ...rules.map(({ expr }) => expr)].flatMap(namesIn))
  expect(asked.size).toBeGreaterThan(20)
  // Of a process, its buffers and its sinks: a gateway inside of a test has none of them.
  const elsewhere = (name: string) => /^(process|nodejs)_|^gateway_(sink_queue_depth|records_lag_seconds)$/.test(name)
  const unknown = [...asked].filter((name) => !there.has(name.replace(/_bucket$/, '')) && !elsewhere(name))
  expect(unknown).toEqual([])
})

it('has a page in the documents for each alert', () => {
  const documents = readFileSync(fileURLToPath(new URL('../../../docs/operations.md', import.meta.url)), 'utf8')
  const missing = rules.flatMap(({ alert }) => (alert && !documents.includes(`\`${alert}\``) ? [alert] : []))
  expect(missing).toEqual([])
})

it('raises the alerts that it should, and no others', () => {
  if (spawnSync('promtool', ['--version']).status !== 0) return expect(process.env.CI).toBeFalsy()
  for (const command of [
    ['check', 'config', 'prometheus.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ]) {
    const { status, stdout, stderr } = spawnSync('promtool', command, { cwd: `${folder}prometheus` })
    expect([status, status === 0 || `${stdout}${stderr}`]).toEqual([0, true])
  }
  // The queries of the panels are read as rules.
  const asRules = queries.map((expr, index) => ({
    record: `panel:${index}`,
    expr: expr.replace(/\$__(?:rate_interval|range)/g, '5m').replaceAll('$model', '.*'),
  }))
  const inFolder = mkdtempSync(join(tmpdir(), 'gateway-panels-'))
  writeFileSync(join(inFolder, 'panels.yml'), JSON.stringify({ groups: [{ name: 'panels', rules: asRules }] }))
  const panelOf = (title: string) =>
    `panel:${queries.indexOf(panels.find((panel) => panel.title === title)?.targets?.[0]?.expr ?? '')}`
  // Where no call has failed yet, nothing has failed: that is no lack of data.
  const answered = { series: 'gateway_requests_total{model="gpt", status_code="200"}', values: '0+60x20' }
  const shown = (title: string, value: number) => {
    const labels = `{__name__="${panelOf(title)}"}`
    return { expr: panelOf(title), eval_time: '15m', exp_samples: [{ labels, value }] }
  }
  const expected = [shown('Failed', 0), shown('Error budget left', 1)]
  const test = { interval: '1m', input_series: [answered], promql_expr_test: expected }
  writeFileSync(join(inFolder, 'test.yml'), JSON.stringify({ rule_files: ['panels.yml'], tests: [test] }))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'test.yml'], { cwd: inFolder })
  rmSync(inFolder, { recursive: true })
  expect([status, status === 0 || `${stdout}${stderr}`]).toEqual([0, true])
})

it('starts gateways with a configuration that holds', () => {
  const env = {
    GATEWAY_MASTER_KEY: 'sk-of-the-fleet-4c1d-0123456789',
    GATEWAY_SALT_KEY: 'salt-of-the-fleet-4c1d-0123456789',
    DATABASE_URL: 'postgres://gateway:secret@postgres:5432/gateway',
    REDIS_URL: 'redis://redis:6379',
  }
  expect(loadConfig(read('gateway.yaml'), env).model_list).toHaveLength(1)
  const compose = parse(read('compose.yaml'), { merge: true })
  for (const name of ['gateway-1', 'gateway-2']) {
    expect(Object.keys(compose.services[name].environment)).toEqual(expect.arrayContaining(Object.keys(env)))
    expect(read('nginx/nginx.conf')).toMatch(new RegExp(`server ${name}:8787 .*resolve;`))
    expect(read('prometheus/prometheus.yml')).toContain(`${name}:8787`)
  }
  const wanted = [...read('compose.yaml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name)
  const offered = [...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name)
  expect(new Set(wanted)).toEqual(new Set(offered))
  const [deployment] = parseAllDocuments(read('kubernetes/model-gateway.yaml')).map((document) => document.toJS())
  const [container] = deployment.spec.template.spec.containers
  const grace = deployment.spec.template.spec.terminationGracePeriodSeconds
  expect(grace, 'the pause before the end, and the drain time').toBeGreaterThan(
    container.lifecycle.preStop.sleep.seconds + 30 + 5,
  )
})
