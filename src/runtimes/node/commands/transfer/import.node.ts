import { readFileSync } from 'node:fs'
import type { Environment } from '../admin-api.ts'
import { optionsOf, outcomeOf, print, UsageError, WHERE, withAdminApi } from '../options.node.ts'
import { sectionsOf } from './document.ts'
import { kinds } from './kinds.ts'
import { planOf, type Step, written } from './plan.ts'

export const IMPORT_USAGE = `Usage: model-gateway import FILE [options]      - reads standard input

  --dry-run          says what would be done, and writes nothing
  --prune            removes what the sections of the file do not have; a section that is not there is left alone
  --resend-secrets   replaces the secrets of records by those of the file
  --json             prints a list of all records
  --url ADDRESS      asks a running gateway, with the key in GATEWAY_KEY
`

const OPTIONS = {
  ...WHERE,
  'dry-run': { type: 'boolean', default: false },
  prune: { type: 'boolean', default: false },
  'resend-secrets': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

/** `model-gateway import`: brings records to what a file says. Nothing is written unless the whole file is valid.
 *  Each written record is printed at once, so that the output is right even if the import is killed. Exit code 1: some
 *  records are not as the file says. */
export function importCommand(operands: readonly string[], env: Environment): Promise<number> {
  return outcomeOf(IMPORT_USAGE, async () => {
    const { values, positionals } = optionsOf(operands, OPTIONS)
    const [file, ...more] = positionals
    if (file === undefined || more.length > 0) throw new UsageError('Name one file')
    const sections = sectionsOf(
      textOf(file),
      kinds.map(({ section }) => section),
    )
    return withAdminApi(env, values.url, async (api) => {
      const options = { env, prune: values.prune, resent: values['resend-secrets'] }
      const { steps, others } = await planOf(api, sections, options)
      const isSound = steps.every(({ outcome }) => outcome !== 'refused')
      const report = (step: Step) => {
        if (!values.json) print(lineOf(step))
      }
      const replanned = () => planOf(api, sections, options)
      const isWriting = isSound && !values['dry-run']
      if (!isWriting) for (const step of steps) report(step)
      const done = isWriting ? await written(api, steps, { replanned, report }) : steps
      if (values.json) print(`${JSON.stringify(done.map(told), null, 2)}\n`)
      else {
        print(`${summaryOf(done)}${conclusion(done, { isSound, isDry: values['dry-run'] })}\n`)
        if (others > 0 && !values.prune)
          print(`${others} more in these sections are not in the file; --prune removes them.\n`)
      }
      return done.some(({ outcome }) => isUndone(outcome)) ? 1 : 0
    })
  })
}

function textOf(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read (${code}).`)
  }
}

const isUndone = (outcome: Step['outcome']) => outcome === 'refused' || outcome === 'failed' || outcome === 'left'

const told = ({ kind, name, outcome, fields, mistakes }: Step) => ({
  kind: kind.section,
  name,
  outcome,
  fields,
  mistakes,
})

function lineOf({ kind, name, outcome, fields, mistakes }: Step): string {
  const changed = outcome === 'changed' ? `  ${fields.join(', ')}` : ''
  const line = `${outcome.padEnd(9)}  ${kind.noun} ${name}${changed}\n`
  return line + mistakes.map(({ path, message }) => `           ${path}: ${message}\n`).join('')
}

function summaryOf(steps: readonly Step[]): string {
  const outcomes = ['created', 'changed', 'removed', 'unchanged', 'refused', 'failed', 'left'] as const
  const counted = outcomes.map((outcome) => [outcome, steps.filter((step) => step.outcome === outcome).length] as const)
  const parts = counted.filter(([, count]) => count > 0).map(([outcome, count]) => `${count} ${outcome}`)
  return parts.length === 0 ? 'The file has no records.' : `${parts.join(', ')}.`
}

function conclusion(
  steps: readonly Step[],
  { isSound, isDry }: { readonly isSound: boolean; readonly isDry: boolean },
): string {
  if (!isSound) return ' Nothing was written: correct the refused records first.'
  if (steps.some(({ outcome }) => outcome === 'failed' || outcome === 'left')) {
    return ' It stopped there: records shown as created, changed or removed are written, those shown as left are not. Run the same import again to continue.'
  }
  if (isDry) return ' Nothing was written (--dry-run).'
  const keys = steps.some(({ kind, outcome }) => kind.section === 'keys' && outcome === 'created')
  return keys ? ' The secrets of new keys are not shown: `model-gateway keys regenerate KEY_ID` prints a new one.' : ''
}
