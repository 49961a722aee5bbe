import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compare, profile } from './compare.ts'
import { LOADS, type LoadName } from './load.ts'
import { bounded, say, session } from './session.ts'
import { TARGETS } from './targets/index.ts'

const OTHER_LOADS = ['first-byte', 'streams-at-once', 'starts'] as const
const USAGE = `npm run bench -- [--quick] [--rounds 3] [--seconds 4] [--only nginx,gateway] [--loads long,embeddings] [--json out.json] [--peer-node path]
npm run bench -- --profile [--only gateway-postgres] [--loads sixteen] [--seconds 10]
Measures the gateway beside ${TARGETS.map((target) => target.name).join(', ')}, each call answered by a far end on this machine.
Loads: ${[...Object.keys(LOADS), ...OTHER_LOADS].join(', ')}; all of them without --loads.
--profile samples one of ours under load, and says in which functions and files its time goes.`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string' },
    loads: { type: 'string' },
    json: { type: 'string' },
    'peer-node': { type: 'string', default: process.execPath },
    help: { type: 'boolean', default: false },
  },
})
const only = options.only?.split(',')
const loads = options.loads?.split(',')
const unknown =
  loads?.find((name) => !Object.hasOwn(LOADS, name) && !(OTHER_LOADS as readonly string[]).includes(name)) ??
  only?.find((name) => !TARGETS.some((target) => target.name === name))
if (unknown !== undefined) throw new RangeError(`there is no '${unknown}'\n${USAGE}`)

if (options.help) say(USAGE)
else if (options.profile) {
  const seconds = bounded(options.seconds, 10, 120)
  const [name = 'gateway-postgres'] = only ?? []
  const [load = 'sixteen'] = (loads ?? []) as LoadName[]
  if (!Object.hasOwn(LOADS, load)) throw new RangeError(`'${load}' is not profiled`)
  const file = join(tmpdir(), `${name}-${load}-${Date.now()}.cpuprofile`)
  await session(seconds + 60, (place) => profile(place, { name, load, seconds, file }))
} else {
  const rounds = bounded(options.rounds, options.quick ? 1 : 3, 20)
  const seconds = bounded(options.seconds, options.quick ? 1 : 4, 60)
  const how = { ...options, rounds, seconds, only, loads, peerNode: options['peer-node'] }
  const most = TARGETS.filter(({ name, onlyByName }) => only?.includes(name) || !onlyByName).length
  await session(rounds * most * (seconds * 8 + 40) + 240, (place) => compare(place, how))
}
