import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Agent, Gateway } from './agents.ts'

/** The longest that an agent may take for its task. */
const LONGEST_MS = 120_000

const programs = fileURLToPath(new URL('node_modules/.bin', import.meta.url))

/** The task: two calls of a tool, the second of which only who has read the first file knows. */
const filesIn = (folder: string) => ({
  'one.txt': `Read the file ${join(folder, 'two.txt')}: it has the word.\n`,
  'two.txt': 'The word is heliotrope.\n',
})
const WORD = 'heliotrope'

export interface Run {
  /** Whether it told the word. */
  readonly told: boolean
  readonly output: string
  readonly seconds: number
}

/** Runs an agent in a home folder of its own, with nothing in its environment but its setup. */
export async function runAgent(agent: Agent, gateway: Gateway): Promise<Run> {
  const place = await mkdtemp(join(tmpdir(), 'gateway-agent-'))
  const [home, work] = [join(place, 'home'), join(place, 'work')]
  const { env, files = {}, run, offline = {} } = agent.setup(gateway)
  const written = Object.entries({ ...filesIn(work), ...files }).map(([name, text]) => ({
    path: name.startsWith('~/') ? join(home, name.slice(2)) : join(work, name),
    text,
  }))
  await mkdir(home, { recursive: true })
  for (const { path, text } of written) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
  const started = performance.now()
  const prompt = `Read the file ${join(work, 'one.txt')} and do what it says. Answer with the word.`
  const child = spawn(join(programs, agent.command), [...run, prompt], {
    cwd: work,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', TERM: 'dumb', ...env, ...offline },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const clock = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS)
  await once(child, 'close')
  clearTimeout(clock)
  await rm(place, { recursive: true, force: true })
  return { told: output.includes(WORD), output, seconds: (performance.now() - started) / 1000 }
}
