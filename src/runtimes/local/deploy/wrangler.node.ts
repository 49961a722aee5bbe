import { spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'

type Environment = Readonly<Record<string, string | undefined>>

export interface Ran {
  readonly code: number
  /** What it printed, without colours. */
  readonly output: string
}

export interface Wrangler {
  /** The environment in which commands run. */
  readonly env: Environment
  /** Runs a command without prompts, and resolves however it ends. `input` goes to its standard input. */
  run(args: readonly string[], input?: string): Promise<Ran>
}

/** The `wrangler` on the path. It does not see the variables that are secrets of the Worker. */
export function wranglerOf(env: Environment, hidden: readonly string[]): Wrangler {
  const visible = Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.includes(name)))
  return {
    env: visible,
    run: (args, input) =>
      new Promise((resolve, reject) => {
        const child = spawn('wrangler', [...args], {
          env: { ...visible, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1' },
          stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
        })
        let printed = ''
        const keep = (bytes: Buffer) => {
          printed += bytes
        }
        child.stdout?.on('data', keep)
        child.stderr?.on('data', keep)
        child.once('error', reject)
        child.once('close', (code) => resolve({ code: code ?? 1, output: stripVTControlCharacters(printed) }))
        // It may have ended before it read.
        child.stdin?.on('error', () => {})
        child.stdin?.end(input)
      }),
  }
}

/** The lines of a failed command that say why, without its banner and its advice about logs. */
export function reasonOf({ output }: Ran): string {
  const lines = output.split('\n').map((line) => line.trim())
  const at = lines.findIndex((line) => line.includes('[ERROR]'))
  const told = lines.slice(Math.max(0, at)).filter((line) => line !== '' && !/^(⛅|─|🪵|✘ *$)/u.test(line))
  return told.slice(0, 6).join('\n').replace(/^✘ /, '')
}

/** What ran, if it succeeded; else throws an error that says why it did not. */
export function succeeded(ran: Ran, otherwise: string): Ran {
  if (ran.code !== 0) throw new Error(`${otherwise}: ${reasonOf(ran)}`)
  return ran
}

/** The JSON in the output of a command, among other text. */
export function jsonIn(output: string): unknown {
  const [from, to] = [output.search(/[[{]/), Math.max(output.lastIndexOf('}'), output.lastIndexOf(']'))]
  try {
    return JSON.parse(output.slice(from, to + 1))
  } catch {
    return undefined
  }
}
