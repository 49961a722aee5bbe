import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import { PROMPT_KEY, PROMPT_LABEL } from '../../../routing/prompts/prompt-ref.ts'
import { promptContent } from '../../../routing/prompts/template.ts'
import { variables } from '../../../routing/prompts/variables.ts'
import type {
  PromptRecord,
  PromptVersionRecord,
  PromptVersionSummary,
} from '../../../stores/sql/prompts/prompt-records.ts'
import { json } from '../../respond.ts'
import type { ApiServices } from '../../scope.ts'
import { storable } from '../../storable.ts'
import { reload } from '../registry-records.ts'

export const PATH = '/ui/api/prompts'
/** The most versions that a prompt shows with itself. */
export const MOST_SHOWN = 100

export const LATEST_VERSION = 999_999_999

const version = () => z.int().min(1).max(LATEST_VERSION)
const labels = () => z.record(z.string(), z.int()).describe('The version that each label names.')

export const promptKey = lazily(() =>
  z.string().regex(PROMPT_KEY, { error: 'must be letters, digits, ., _ and -, at most 128, the first no mark' }),
)
export const promptLabel = lazily(() =>
  z
    .string()
    .regex(PROMPT_LABEL, { error: 'must be letters, digits, ., _ and -, at most 64, the first a letter' })
    .refine((label) => label !== 'latest', "'latest' is always the newest version and is not moved"),
)
/** A version number in a query or path. */
export const versionParam = lazily(() => z.coerce.number().int().min(1).max(LATEST_VERSION))

export const description = lazily(() => storable().max(2000))

export const promptAnswer = lazily(() =>
  z.object({
    key: promptKey(),
    state: z.enum(['active', 'archived']).describe('Calls cannot name an archived prompt.'),
    description: z.string(),
    labels: labels(),
    former_labels: labels().describe(
      'The version that each label named before it was moved: where it is rolled back to.',
    ),
    latest: version().describe('The newest version.'),
    revision: z.int().describe('Increases with every change.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
)

export const summaryAnswer = lazily(() =>
  z.object({ version: version(), created_at: z.iso.datetime(), created_by: z.string(), note: z.string() }),
)

export const versionAnswer = lazily(() =>
  summaryAnswer().extend({ messages: promptContent().shape.messages, variables: variables() }),
)

/** The body of a new version. */
export const versionFields = lazily(() => ({
  ...promptContent().shape,
  note: storable().max(1000).default('').describe('What is new in this version.'),
  labels: z.array(promptLabel()).max(20).default([]).describe('Labels that name this version from now on.'),
}))

export const common = { tag: 'Configuration', auth: 'admin' } as const
export const one = { ...common, path: `${PATH}/{key}`, params: () => z.object({ key: z.string() }) } as const

export function shownVersion(record: PromptVersionRecord): object {
  const { version, created_at, created_by, note, messages, variables } = record
  return { version, created_at, created_by, note, messages, variables }
}

export const shownSummary = ({ version, created_at, created_by, note }: PromptVersionSummary) => ({
  version,
  created_at,
  created_by,
  note,
})

/** The prompt of a request. */
export async function promptOf({ records }: ApiServices, key: string): Promise<PromptRecord> {
  const record = PROMPT_KEY.test(key) ? await records.prompts.find(key) : undefined
  if (!record) throw noPrompt()
  return record
}

/** The refusal of a change that changed nothing: the prompt is archived, or absent. */
export async function unchanged(services: ApiServices, key: string): Promise<GatewayError | undefined> {
  const { state } = await promptOf(services, key)
  if (state === 'active') return undefined
  const message = 'The prompt is archived. Take it out of the archive first.'
  return new GatewayError('conflict', message, { param: 'key', code: 'prompt_archived' })
}

function noPrompt(): GatewayError {
  return new GatewayError('not_found', 'There is no such prompt.', { param: 'key' })
}

export function noVersion(param = 'version'): GatewayError {
  return new GatewayError('not_found', 'The prompt has no such version.', { param })
}

/** Answers a stored change, which this process applies at once. */
export async function applied(services: ApiServices, record: PromptRecord, status = 200): Promise<Answer> {
  await reload(services)
  return json(record, status)
}
