import * as z from 'zod'
import { flag, isMap, positiveCount, section } from '../../config/fields.ts'
import { lazily } from '../../lib/lazily.ts'
import { VARIABLE_NAME } from './placeholders.ts'

const MOST_VARIABLES = 100
const MOST_CHOICES = 100
const LONGEST_DESCRIPTION = 1000
const LONGEST_CHOICE = 1000
/** The most characters of all declarations of a template. */
const LONGEST = 65_536

const TYPES = ['string', 'number', 'integer', 'boolean', 'enum', 'array', 'object'] as const

/** What a call may give for one variable of a template. */
const variable = lazily(() =>
  section({
    type: z.enum(TYPES),
    description: z.string().max(LONGEST_DESCRIPTION).optional(),
    enum: z
      .array(z.string().min(1).max(LONGEST_CHOICE))
      .min(1)
      .max(MOST_CHOICES)
      .optional()
      .describe('The values of an enum.'),
    max_length: positiveCount().optional().describe('The most characters of a string, or items of an array.'),
    required: flag()
      .optional()
      .describe('Whether a call must give it: true where it is left out, unless there is a default.'),
    default: z.unknown().optional().describe('Its value where a call gives none; of its own type.'),
  }).superRefine((declared, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if ((declared.type === 'enum') !== (declared.enum !== undefined)) refuse('enum', 'goes with the type enum')
    if (declared.max_length !== undefined && declared.type !== 'string' && declared.type !== 'array') {
      refuse('max_length', 'goes with the types string and array')
    }
    if (declared.default === undefined) return
    if (declared.required === true) refuse('default', 'is never used by a variable that is required')
    const wrong = mistakeIn(declared, declared.default)
    if (wrong !== undefined) refuse('default', wrong)
  }),
)

type Variable = z.output<ReturnType<typeof variable>>
export type Variables = Readonly<Record<string, Variable>>

/** The variables of a template, by name. */
export const variables = lazily(() =>
  z
    .record(
      z.string().regex(VARIABLE_NAME, { error: 'is not a name: letters, digits, _, - and ., at most 64' }),
      variable(),
    )
    .refine((declared) => Object.keys(declared).length <= MOST_VARIABLES, `has more than ${MOST_VARIABLES} variables`)
    .refine((declared) => JSON.stringify(declared).length <= LONGEST, `is longer than ${LONGEST} characters`),
)

/** Whether a call that does not give the variable is refused. */
function isRequired({ required, default: fallback }: Variable): boolean {
  return required ?? fallback === undefined
}

/** Why a value is none of the variable's; undefined if it is one. */
function mistakeIn(declared: Variable, value: unknown): string | undefined {
  const { type, max_length: longest } = declared
  switch (type) {
    case 'string':
      if (typeof value !== 'string') return 'must be a string'
      if (longest !== undefined && value.length > longest) return `has more than ${longest} characters`
      return undefined
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? undefined : 'must be a number'
    case 'integer':
      return Number.isSafeInteger(value) ? undefined : 'must be an integer'
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'enum':
      if (typeof value === 'string' && declared.enum?.includes(value)) return undefined
      return `must be one of ${declared.enum?.map((choice) => `'${choice}'`).join(', ')}`
    case 'array':
      if (!Array.isArray(value)) return 'must be a list'
      if (longest !== undefined && value.length > longest) return `has more than ${longest} items`
      return undefined
    case 'object':
      return isMap(value) ? undefined : 'must be an object'
  }
}

/** The mistake in the values of a call. */
interface VariableMistake {
  readonly name: string
  readonly message: string
}

export type VariableTexts =
  | { readonly texts: ReadonlyMap<string, string>; readonly mistake?: never }
  | { readonly mistake: VariableMistake; readonly texts?: never }

/** The variables for want of which a call with these values is refused. */
export function missingIn(declared: Variables, given: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(declared)
    .filter(([name, one]) => isRequired(one) && (Object.hasOwn(given, name) ? given[name] : undefined) == null)
    .map(([name]) => name)
}

/** The text that each variable stands for. null counts as not given. */
export function textsOf(declared: Variables, given: Readonly<Record<string, unknown>>): VariableTexts {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(declared, name)) return { mistake: { name, message: 'is no variable of the prompt' } }
  }
  const texts = new Map<string, string>()
  for (const [name, one] of Object.entries(declared)) {
    const own = Object.hasOwn(given, name) ? given[name] : undefined
    const value = own ?? one.default
    if (value === undefined || value === null) {
      if (isRequired(one)) return { mistake: { name, message: 'is required by the prompt' } }
      texts.set(name, '')
      continue
    }
    const message = mistakeIn(one, value)
    if (message !== undefined) return { mistake: { name, message } }
    texts.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return { texts }
}
