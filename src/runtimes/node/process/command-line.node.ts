import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { PACKAGE, SAMPLE_CONFIG } from '../setup/places.node.ts'
import { configPath } from '../setup/settings.node.ts'

const HELP = `Usage: model-gateway [command]

  (none)         starts the gateway, with gateway.yaml of this folder if there is one
  init           writes a commented gateway.yaml into this folder
  check [file]   says what is wrong with a configuration file, and starts nothing
  doctor         checks the configuration, the stores and the machine, and changes nothing
  keys           makes, lists, regenerates and revokes keys
  accounts       resets a person's password, or removes a lost second factor
  export         prints the records of the database as YAML, without secrets
  import FILE    creates and changes records of the database as such a file says
  copy-database  copies the embedded database into the PostgreSQL of DATABASE_URL
  salt-key       prints a successor of the present salt key
  smoke URL      tests a running gateway from outside, with a key of it (--key)
  --version, -v  prints the version
  --help, -h     prints this; after a command, the help of that command

Environment: PORT (8787), HOST (127.0.0.1), GATEWAY_CONFIG (gateway.yaml), GATEWAY_DATA_DIR (.gateway),
GATEWAY_MASTER_KEY, GATEWAY_SALT_KEY, DATABASE_URL, REDIS_URL, GATEWAY_PROCESSES, GATEWAY_DRAIN_SECONDS
`

type Environment = Readonly<Record<string, string | undefined>>

interface Command {
  readonly usage: string
  run(operands: readonly string[], env: Environment): Promise<number>
}

const INIT_USAGE = `Usage: model-gateway init

  writes a commented gateway.yaml into this folder, and leaves one that is there as it is
`

/** Imported on demand: most of them load the whole gateway. */
const COMMANDS: Readonly<Record<string, (() => Promise<Command>) | undefined>> = {
  async init() {
    return { usage: INIT_USAGE, run: async (operands) => withOperands(operands, 0, INIT_USAGE, init) }
  },
  async check() {
    const { CHECK_USAGE: usage, checkConfig } = await import('./check-config.node.ts')
    const run: Command['run'] = async (operands, env) =>
      withOperands(operands, 1, usage, () => checkConfig(operands[0] ?? configPath(env), env))
    return { usage, run }
  },
  async doctor() {
    const { DOCTOR_USAGE: usage, doctorCommand: run } = await import('../commands/doctor/doctor.node.ts')
    return { usage, run }
  },
  async keys() {
    const { KEYS_USAGE: usage, keysCommand: run } = await import('../commands/keys.node.ts')
    return { usage, run }
  },
  async accounts() {
    const { ACCOUNTS_USAGE: usage, accountsCommand: run } = await import('../commands/accounts.node.ts')
    return { usage, run }
  },
  async export() {
    const { EXPORT_USAGE: usage, exportCommand: run } = await import('../commands/transfer/export.node.ts')
    return { usage, run }
  },
  async import() {
    const { IMPORT_USAGE: usage, importCommand: run } = await import('../commands/transfer/import.node.ts')
    return { usage, run }
  },
  async 'copy-database'() {
    const { COPY_USAGE: usage, copyDatabaseCommand: run } = await import('../commands/copy-database.node.ts')
    return { usage, run }
  },
  async 'salt-key'() {
    const { SALT_KEY_USAGE: usage, saltKeyCommand: run } = await import('../commands/salt-key.node.ts')
    return { usage, run }
  },
  async smoke() {
    const { SMOKE_USAGE: usage, smoke: run } = await import('../../local/smoke/smoke.node.ts')
    return { usage, run }
  },
}

/** Runs a command of the command line. Returns the exit code. */
export async function commandLine([command = '', ...operands]: readonly string[], env: Environment): Promise<number> {
  const further = Object.hasOwn(COMMANDS, command) ? await COMMANDS[command]?.() : undefined
  if (further) return operands.some(isHelp) ? print(further.usage) : further.run(operands, env)
  if (isHelp(command)) return print(HELP)
  if (command === '--version' || command === '-v')
    return print(`${(JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }).version}\n`)
  return printError(`There is no ${command.startsWith('-') ? 'option' : 'command'} ${command}.\n\n${HELP}`)
}

const isHelp = (operand: string | undefined) => operand === '--help' || operand === '-h'

/** Runs a command that takes `most` operands and no options. */
function withOperands(operands: readonly string[], most: number, usage: string, run: () => number): number {
  const further = operands.find((operand) => operand.startsWith('-')) ?? operands[most]
  return further === undefined ? run() : printError(`There is one argument too many: ${further}.\n\n${usage}`)
}

function init(): number {
  const file = 'gateway.yaml'
  if (existsSync(file)) return printError(`${file} is there already. It was left as it is.\n`)
  // Other users may read it, like any configuration file: secrets belong in the environment.
  try {
    writeFileSync(file, readFileSync(SAMPLE_CONFIG), { flag: 'wx', mode: 0o644 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return printError(`${file} cannot be written here (${code}). Run this in a folder of your own.\n`)
  }
  return print(`${file} is written. It has one model, echo, and examples of more.\nNext: model-gateway\n`)
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

function printError(text: string): number {
  process.stderr.write(text)
  return 2
}
