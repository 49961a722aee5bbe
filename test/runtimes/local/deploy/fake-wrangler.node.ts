import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
  /** What was run since the last time. */
  commands(): Command[]
  remove(): void
}

/** A `wrangler` that answers as the true one prints, for what is at Cloudflare, and notes what it was asked. */
export function fakeWrangler(cloud: Cloud): FakeWrangler {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-fake-wrangler-'))
  const log = join(folder, 'commands.jsonl')
  writeFileSync(log, '')
  writeFileSync(join(folder, 'cloud.json'), JSON.stringify(cloud))
  const program = join(folder, 'wrangler')
  writeFileSync(program, `#!${process.execPath}\n${PROGRAM}`)
  chmodSync(program, 0o755)
  return {
    folder,
    commands() {
      const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean)
      writeFileSync(log, '')
      return lines.map((line) => JSON.parse(line) as Command)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const PROGRAM = `
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { randomBytes } = require('node:crypto')
const args = process.argv.slice(2)
const input = args[0] === 'secret' && args[1] === 'bulk' ? readFileSync(0, 'utf8') : ''
appendFileSync(join(__dirname, 'commands.jsonl'), JSON.stringify({ args, input, variables: process.env }) + '\\n')
const cloud = JSON.parse(readFileSync(join(__dirname, 'cloud.json'), 'utf8'))
const say = (text) => process.stdout.write(text + '\\n')
const banner = () => say('\\n \u26c5\ufe0f wrangler 4.156.2\\n\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500')
function fail(message) {
  process.stderr.write('\\n\\u001b[31m\u2718 \\u001b[41;31m[\\u001b[41;97mERROR\\u001b[41;31m]\\u001b[0m \\u001b[1m' + message + '\\u001b[0m\\n\\n')
  say('\\n\ud83e\udeb5  Logs were written to "/root/.config/.wrangler/logs/wrangler.log"')
  process.exit(1)
}
const is = (...words) => words.every((word, index) => args[index] === word)
if (is('deploy') && args.includes('--dry-run')) {
  const folder = args[args.indexOf('--outdir') + 1]
  writeFileSync(join(folder, 'worker.js'), randomBytes(cloud.scriptBytes ?? 1000))
} else if (is('check', 'startup')) {
  say('\u2502   Active: 61.4 ms (including 3.0 ms garbage collection)')
} else if (is('whoami', '--json')) {
  if (!cloud.accounts) { say('{"loggedIn":false}'); process.exit(1) }
  say(JSON.stringify({ loggedIn: true, authType: 'OAuth Token', email: 'me@gateway.example', accounts: cloud.accounts }, null, 2))
} else if (is('r2', 'bucket', 'list')) {
  banner()
  say('Listing buckets...')
  say((cloud.buckets ?? []).map((name) => 'name:           ' + name + '\\ncreation_date:  2026-11-01T00:00:00.000Z').join('\\n\\n'))
} else if (is('r2', 'bucket', 'create')) {
  banner()
  say("Creating bucket '" + args[3] + "'...")
  if (cloud.unlisted?.includes(args[3])) fail('A request to the Cloudflare API (/accounts/a1/r2/buckets) failed.\\n  The bucket you tried to create already exists, and you own it. [code: 10004]')
  say("\u2705 Created bucket '" + args[3] + "' with default storage class of Standard.")
} else if (is('queues', 'list')) {
  banner()
  const names = Number(args[3]) === 1 ? (cloud.queues ?? []) : []
  const row = (...cells) => '\u2502 ' + cells.join(' \u2502 ') + ' \u2502'
  say('\u250c\u2500\u2500\u252c\u2500\u2500\u2510')
  if (names.length > 0) say(row('id', 'name', 'created_on', 'modified_on', 'producers', 'consumers'))
  for (const name of names) say('\u251c\u2500\u2500\u253c\u2500\u2500\u2524\\n' + row('0123456789abcdef0123456789abcdef', name.padEnd(20), '2026-11-01T00:00:00.000000Z', '2026-11-01T00:00:00.000000Z', '1', '1'))
  say('\u2514\u2500\u2500\u2534\u2500\u2500\u2518')
} else if (is('queues', 'create')) {
  banner()
  say("\ud83c\udf00 Creating queue '" + args[2] + "'")
  if (cloud.unlisted?.includes(args[2])) fail("A request to the Cloudflare API (/accounts/a1/queues) failed.\\n  Queue name '" + args[2] + "' is already taken. Please use a different name and try again. [code: 11009]")
  say("\u2705 Created queue '" + args[2] + "'")
} else if (is('secret', 'list')) {
  if (!cloud.secrets) fail('Worker "model-gateway" not found.\\n\\nIf this is a new Worker, run wrangler deploy first to create it.')
  say(JSON.stringify(cloud.secrets.map((name) => ({ name, type: 'secret_text' })), null, '  '))
} else if (is('secret', 'bulk')) {
  banner()
  const names = Object.keys(JSON.parse(input))
  for (const name of names) say('\u2728 Successfully created secret for key: ' + name)
  say('\\nFinished processing secrets file:\\n\u2728 ' + names.length + ' secrets successfully created')
} else if (is('deploy')) {
  banner()
  if (cloud.deployFails) fail('A request to the Cloudflare API (/accounts/a1/workers/scripts/model-gateway) failed.\\n  Script startup exceeded CPU time limit. [code: 10021]')
  say('Total Upload: 1846.00 KiB / gzip: 600.00 KiB\\nWorker Startup Time: 71 ms\\nUploaded model-gateway (4.02 sec)')
  say('Deployed model-gateway triggers (1.11 sec)\\n  https://model-gateway.me.workers.dev\\n  schedule: * * * * *\\n  Producer for gateway-work')
  say('Current Version ID: 1b3a4f6e-3f6c-4a53-9d0a-000000000000')
} else {
  fail('Unknown arguments: ' + args.join(' '))
}
`
