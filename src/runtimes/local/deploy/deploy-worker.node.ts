import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Config } from '../../../config/schema.ts'
import { describeError } from '../../../lib/log.ts'
import { smoke } from '../smoke/smoke.node.ts'
import { checkedOnWorkers } from './checked-on-workers.node.ts'
import { measure, subrequestsOf } from './measure.node.ts'
import { outOfReach } from './on-workers.ts'
import { beyondPlan, PLANS, type PlanLimits } from './plan-limits.ts'
import { Refusal } from './refusal.ts'
import { account, makeBuckets, makeQueues, queueCreation } from './resources.node.ts'
import { type Ask, askAtTerminal, presentSecrets, secretsToSend, sendSecrets } from './secrets.node.ts'
import { neededVariables, type Wanted, wantedOf } from './wanted.node.ts'
import { reasonOf, type Wrangler, wranglerOf } from './wrangler.node.ts'

const HELP = `Usage: npm run deploy:worker -- [--env NAME] [--plan free|paid] [--update-secrets] [--url URL] [--dry-run]

Makes what wrangler.toml names and is not there yet, sets the secrets that the Worker lacks, and deploys. Repeated, it
only deploys. Secrets come from the environment, or are asked for.

  --env             an environment of wrangler.toml, such as staging
  --plan            the plan of the account; paid by default
  --update-secrets  also sends secrets of the environment that the Worker has already
  --url             where the smoke test finds the gateway; by default where wrangler says that it is
  --dry-run         checks the configuration and the bundle, says what would follow, and changes nothing

With GATEWAY_KEY, a key of the gateway, it runs the smoke test behind the deployment.
Exit status: 0 deployed, 1 a step or the smoke test failed, 2 it could not begin; then nothing was changed.
`

const CONFIGURATION = 'gateway.yaml'

type Environment = Readonly<Record<string, string | undefined>>

interface Surroundings {
  readonly env: Environment
  readonly ask: Ask
  print(text: string): void
}

/** The command. Returns the exit code. */
export async function deployWorker(operands: readonly string[], surroundings: Surroundings): Promise<number> {
  const { print } = surroundings
  try {
    return await deploy(operands, surroundings)
  } catch (error) {
    print(`\n${error instanceof Error ? error.message : describeError(error)}\n`)
    return error instanceof Refusal ? 2 : 1
  }
}

async function deploy(operands: readonly string[], { env, ask, print }: Surroundings): Promise<number> {
  const { values, plan } = read(operands)
  if (values.help) {
    print(HELP)
    return 0
  }
  const step = (name: string, text: string) => print(`${name.padEnd(14)}${text}\n`)
  const wanted = await wantedOf(values.env)
  const needed = neededVariables(CONFIGURATION, env, wanted.variables)
  const wrangler = wranglerOf(env, [...needed, 'GATEWAY_KEY'])
  // Without a name this is the environment outside of all others.
  const target = [`--env=${values.env ?? ''}`]

  const checked = (known: Environment) =>
    checkedOnWorkers(readFileSync(CONFIGURATION, 'utf8'), { needed, env: known, wanted })
  const config = checked(env)
  step('configuration', `models: ${config.model_list.length}; variables: ${needed.join(', ')}`)
  const beyond = outOfReach(config)
  if (beyond.length > 0) step('note', `Workers does not reach this machine or a private network: ${beyond.join(', ')}`)
  await checkBundle(wrangler, target, { config, wanted, plan, step })
  if (values['dry-run']) {
    for (const line of whatWouldFollow(wanted, needed, plan, target)) step('would run', line)
    return 0
  }

  step('account', await account(wrangler, env.CLOUDFLARE_ACCOUNT_ID ?? wanted.accountId))
  const present = await presentSecrets(wrangler, target)
  const secrets = await secretsToSend({ needed, present, env, update: values['update-secrets'], ask, plan })
  // With their true values: only now all of them are known.
  checked({ ...env, ...secrets })

  step('buckets', madeOf(wanted.buckets, await makeBuckets(wrangler, wanted.buckets)))
  const queues = wanted.queues.map(({ name }) => name)
  step('queues', madeOf(queues, await makeQueues(wrangler, wanted.queues, plan)))
  const names = Object.keys(secrets)
  if (names.length > 0) await sendSecrets(wrangler, secrets, target)
  step('secrets', names.length > 0 ? `set: ${names.join(', ')}` : 'all there')

  const deployed = await wrangler.run(['deploy', ...target])
  if (deployed.code !== 0) throw new Error(`The deployment failed: ${reasonOf(deployed)}`)
  const url = values.url ?? addressIn(deployed.output)
  step(
    'deployed',
    [url, /Worker Startup Time: .*/.exec(deployed.output)?.[0], versionIn(deployed.output)].filter(Boolean).join(', '),
  )
  return smokeAfter(url, env, step)
}

function read(operands: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...operands],
      options: {
        env: { type: 'string' },
        plan: { type: 'string', default: 'paid' },
        url: { type: 'string' },
        'update-secrets': { type: 'boolean', default: false },
        'dry-run': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    const plan: PlanLimits | undefined =
      values.plan === 'free' ? PLANS.free : values.plan === 'paid' ? PLANS.paid : undefined
    if (!plan) throw new Error('--plan is free or paid.')
    return { values, plan }
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n\n${HELP}`)
  }
}

interface Bundled {
  readonly config: Config
  readonly wanted: Wanted
  readonly plan: PlanLimits
  step(name: string, text: string): void
}

async function checkBundle(
  wrangler: Wrangler,
  target: readonly string[],
  { config, wanted, plan, step }: Bundled,
): Promise<void> {
  const bundle = await measure(wrangler, target)
  const { call, withTools } = subrequestsOf(config)
  const measured = { ...bundle, subrequests: call, cronTriggers: wanted.cronTriggers }
  const beyond = beyondPlan(measured, plan)
  if (beyond.length > 0) throw new Refusal(beyond.join('\n'))
  const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`
  const start = bundle.startupMs === undefined ? 'start not measured' : `start ${bundle.startupMs} ms of CPU here`
  step(
    'bundle',
    `${kib(bundle.bytes)}, ${kib(bundle.gzipBytes)} gzipped; ${start}; a call makes ${call} requests at most`,
  )
  if (plan === PLANS.free) {
    step(
      'note',
      'Workers Free gives a request 10 ms of CPU: to check a password takes ten times that, so sign in otherwise',
    )
  }
  if (withTools > plan.subrequests) {
    const allowed = `${plan.name} allows ${plan.subrequests}`
    step('note', `a call with managed tools makes up to ${withTools} requests, of which ${allowed}: use Workers Paid`)
  }
  if (plan === PLANS.free && config.general_settings.embeddings_batch_enabled) {
    step('note', 'a turn of batches makes about 1,000 requests, of which Workers Free allows 50: use Workers Paid')
  }
}

function whatWouldFollow(
  { buckets, queues, worker }: Wanted,
  needed: readonly string[],
  plan: PlanLimits,
  target: readonly string[],
): string[] {
  const commands = [
    ...buckets.map((name) => `r2 bucket create ${name}   (unless it is there)`),
    ...queues.map((queue) => `${queueCreation(queue, plan).join(' ')}   (unless it is there)`),
    `secret bulk ${target}   (those that ${worker} lacks of ${needed.join(', ')})`,
    `deploy ${target}`,
  ]
  return commands.map((command) => `wrangler ${command}`)
}

function madeOf(wanted: readonly string[], made: readonly string[]): string {
  const kept = wanted.filter((name) => !made.includes(name))
  return [made.length > 0 ? `made: ${made.join(', ')}` : '', kept.length > 0 ? `there: ${kept.join(', ')}` : '']
    .filter((part) => part !== '')
    .join('; ')
}

/** Where wrangler says that the Worker is. */
function addressIn(output: string): string | undefined {
  const custom = /^ +(\S+) \(custom domain\)/m.exec(output)?.[1]
  return custom === undefined ? /^ +(https:\/\/\S+)/m.exec(output)?.[1] : `https://${custom}`
}

const versionIn = (output: string) => /Current Version ID: \S+/.exec(output)?.[0]

async function smokeAfter(url: string | undefined, env: Environment, step: Bundled['step']): Promise<number> {
  if (!env.GATEWAY_KEY || url === undefined) {
    step('smoke test', `not run: ${env.GATEWAY_KEY ? 'name its address with --url' : 'it needs a key in GATEWAY_KEY'}`)
    return 0
  }
  step('smoke test', url)
  return (await smoke([url], env)) === 0 ? 0 : 1
}

if (import.meta.main) {
  process.exitCode = await deployWorker(process.argv.slice(2), {
    env: process.env,
    ask: process.stdin.isTTY ? askAtTerminal : undefined,
    print: (text) => process.stdout.write(text),
  })
}
