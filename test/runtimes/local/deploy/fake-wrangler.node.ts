import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What is at Cloudflare. */
export interface Cloud {
  readonly accounts?: readonly { readonly id: string; readonly name: string }[]
  readonly buckets?: readonly string[]
  readonly queues?: readonly string[]
  /** There, but on no page of a list. */
  readonly unlisted?: readonly string[]
  /** undefined: there is no such Worker. */
  readonly secrets?: readonly string[]
  readonly deployFails?: true
  readonly scriptBytes?: number
}

export interface Command {
  readonly args: readonly string[]
  readonly input: string
  readonly variables: Readonly<Record<string, string>>
}

export interface FakeWrangler {
  /** To be put on the path. */
  readonly folder: string
  readonly commands: readonly Command[]
  remove(): void
}

interface Printed {
  readonly code?: number
  readonly output?: string
  readonly errors?: string
}

/** Asks the test what to print, since a shell starts in a fraction of the time that another Node takes: it sends its
 *  arguments, its variables and its input, each ended by a NUL, as are the exit code and the texts in return. The test
 *  stands still while it builds, and so only hears of that. */
const program = (port: number, scriptBytes: number) => `#!/usr/bin/env bash
exec 3<>/dev/tcp/127.0.0.1/${port}
[ "$1 $2" = 'secret bulk' ] && input=$(cat)
{ printf '%s\\0' "$@" ''; env -0; printf '%s\\0' '' "$input"; } >&3
[ "$1 $2 $4" = 'deploy --dry-run --outdir' ] && exec head -c ${scriptBytes} /dev/urandom >"$5/worker.js"
IFS= read -r -d '' code <&3; IFS= read -r -d '' errors <&3; IFS= read -r -d '' output <&3
printf '%s' "$errors" >&2
printf '%s' "$output"
exit "$code"
`

/** A `wrangler` that answers as the true one prints, for what is at Cloudflare, and notes what it was asked. */
export async function fakeWrangler(cloud: Cloud): Promise<FakeWrangler> {
  const commands: Command[] = []
  const server = createServer((socket) => {
    let asked = ''
    socket.on('error', () => {})
    socket.setEncoding('utf8').on('data', (text) => {
      asked += text
      const command = commandIn(asked)
      if (!command) return
      commands.push(command)
      answer(socket, printedFor(command, cloud))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = mkdtempSync(join(tmpdir(), 'gateway-fake-wrangler-'))
  const file = join(folder, 'wrangler')
  writeFileSync(file, program((server.address() as AddressInfo).port, cloud.scriptBytes ?? 1000))
  chmodSync(file, 0o755)
  return {
    folder,
    commands,
    remove() {
      server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** undefined: it has not been said to its end. */
function commandIn(asked: string): Command | undefined {
  const [args, variables, input] = asked.split('\0\0')
  if (args === undefined || variables === undefined || !input?.endsWith('\0')) return undefined
  const pairs = variables.split('\0').map((pair) => [pair.split('=', 1)[0], pair.slice(pair.indexOf('=') + 1)])
  return { args: args.split('\0'), variables: Object.fromEntries(pairs), input: input.slice(0, -1) }
}

function answer(socket: Socket, { code = 0, output = '', errors = '' }: Printed): void {
  socket.end([code, errors, output].map((part) => `${part}\0`).join(''))
}

const BANNER = '\n ⛅️ wrangler 4.156.2\n─────────'
const said = (...lines: string[]): Printed => ({ output: `${lines.join('\n')}\n` })

function failed(message: string, ...before: string[]): Printed {
  return {
    ...said(...before, '\n🪵  Logs were written to "/root/.config/.wrangler/logs/wrangler.log"'),
    code: 1,
    errors: `\n\n\u001b[31m✘ \u001b[41;31m[\u001b[41;97mERROR\u001b[41;31m]\u001b[0m \u001b[1m${message}\u001b[0m\n\n`,
  }
}

function printedFor({ args, input }: Command, cloud: Cloud): Printed {
  const is = (...words: string[]) => words.every((word, index) => args[index] === word)
  if (is('deploy', '--dry-run')) return {}
  if (is('check', 'startup')) return said('│   Active: 61.4 ms (including 3.0 ms garbage collection)')
  if (is('whoami', '--json')) {
    const { accounts } = cloud
    if (!accounts) return { ...said('{"loggedIn":false}'), code: 1 }
    const told = { loggedIn: true, authType: 'OAuth Token', email: 'me@gateway.example', accounts }
    return said(JSON.stringify(told, null, 2))
  }
  if (is('r2', 'bucket', 'list')) {
    const named = (name: string) => `name:           ${name}\ncreation_date:  2026-11-01T00:00:00.000Z`
    return said(BANNER, 'Listing buckets...', (cloud.buckets ?? []).map(named).join('\n\n'))
  }
  if (is('r2', 'bucket', 'create')) {
    const name = String(args[3])
    const begun = [BANNER, `Creating bucket '${name}'...`]
    if (cloud.unlisted?.includes(name)) {
      const why = 'The bucket you tried to create already exists, and you own it. [code: 10004]'
      return failed(`A request to the Cloudflare API (/accounts/a1/r2/buckets) failed.\n  ${why}`, ...begun)
    }
    return said(...begun, `✅ Created bucket '${name}' with default storage class of Standard.`)
  }
  if (is('queues', 'list')) {
    const names = Number(args[3]) === 1 ? (cloud.queues ?? []) : []
    const row = (...cells: string[]) => `│ ${cells.join(' │ ')} │`
    const [id, at] = ['0123456789abcdef0123456789abcdef', '2026-11-01T00:00:00.000000Z']
    const head = names.length > 0 ? [row('id', 'name', 'created_on', 'modified_on', 'producers', 'consumers')] : []
    const rows = names.map((name) => `├──┼──┤\n${row(id, name.padEnd(20), at, at, '1', '1')}`)
    return said(BANNER, '┌──┬──┐', ...head, ...rows, '└──┴──┘')
  }
  if (is('queues', 'create')) {
    const name = String(args[2])
    const begun = [BANNER, `🌀 Creating queue '${name}'`]
    if (cloud.unlisted?.includes(name)) {
      const why = `Queue name '${name}' is already taken. Please use a different name and try again. [code: 11009]`
      return failed(`A request to the Cloudflare API (/accounts/a1/queues) failed.\n  ${why}`, ...begun)
    }
    return said(...begun, `✅ Created queue '${name}'`)
  }
  if (is('secret', 'list')) {
    const why = 'Worker "model-gateway" not found.\n\nIf this is a new Worker, run wrangler deploy first to create it.'
    const secrets = cloud.secrets?.map((name) => ({ name, type: 'secret_text' }))
    return secrets ? said(JSON.stringify(secrets, null, '  ')) : failed(why)
  }
  if (is('secret', 'bulk')) {
    const names = Object.keys(JSON.parse(input))
    const each = names.map((name) => `✨ Successfully created secret for key: ${name}`)
    return said(BANNER, ...each, `\nFinished processing secrets file:\n✨ ${names.length} secrets successfully created`)
  }
  if (is('deploy')) {
    const why = 'Script startup exceeded CPU time limit. [code: 10021]'
    const failure = `A request to the Cloudflare API (/accounts/a1/workers/scripts/model-gateway) failed.\n  ${why}`
    if (cloud.deployFails) return failed(failure, BANNER)
    return said(
      BANNER,
      'Total Upload: 1846.00 KiB / gzip: 600.00 KiB\nWorker Startup Time: 71 ms\nUploaded model-gateway (4.02 sec)',
      'Deployed model-gateway triggers (1.11 sec)\n  https://model-gateway.me.workers.dev',
      '  schedule: * * * * *\n  Producer for gateway-work',
      'Current Version ID: 1b3a4f6e-3f6c-4a53-9d0a-000000000000',
    )
  }
  return failed(`Unknown arguments: ${args.join(' ')}`)
}
