import * as z from 'zod'
import { accepted, mistake } from '../../../config/accepted.ts'
import { lazily } from '../../../lib/lazily.ts'
import { readPromptRef, versionMeant } from '../../../routing/prompts/prompt-ref.ts'
import { storedTemplate } from '../../../routing/prompts/stored-template.ts'
import { promptContent, ROLES, type Template, templateOf } from '../../../routing/prompts/template.ts'
import { missingIn, textsOf } from '../../../routing/prompts/variables.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { ApiServices } from '../../scope.ts'
import { common, LATEST_VERSION, noVersion, one, PATH, promptOf } from './prompt-answers.ts'
import { versionOf } from './versions.ts'

/** The most characters of a preview. */
const LONGEST_PREVIEW = 4_194_304

const messages = () =>
  z.array(
    z.object({
      role: z.enum(ROLES),
      content: z.union([z.string(), z.array(z.object({ type: z.literal('text'), text: z.string() }))]),
    }),
  )
const values = () => z.record(z.string(), z.unknown())

const renderStored = defineRoute(
  {
    ...one,
    path: `${one.path}/render`,
    method: 'post',
    action: 'prompt.render',
    summary: 'Shows the messages of a prompt with values in place. Asks no model.',
    permission: 'config.read',
    json: () =>
      z.strictObject({
        version: z.int().min(1).max(LATEST_VERSION).optional(),
        label: z.string().max(64).optional().describe('A label, or latest. Without both as a call by the key alone.'),
        variables: values().default({}),
      }),
    responses: {
      200: {
        description: 'The messages.',
        schema: () => z.object({ key: z.string(), version: z.int(), messages: messages() }),
      },
    },
  },
  async ({ services, input: { params, json: asked } }) => {
    const { version, label, variables = {} } = asked
    if (version !== undefined && label !== undefined) throw mistake('label', 'or version, not both')
    const found = await stored(services, { key: params.key, version, label })
    const rendered = render(found.template, variables, 'variables')
    return json({ key: params.key, version: found.version, messages: rendered })
  },
)

const draft = lazily(() =>
  z.strictObject({
    prompt_ref: z.string().max(300).optional().describe('`key`, `key@3` or `key:label`, as a call names it.'),
    messages: promptContent().shape.messages.optional().describe('Instead of a prompt: what a version would say.'),
    variables: promptContent().shape.variables.describe('Declared with `messages`.'),
    values: values().default({}).describe('What a call gives in `metadata.prompt_variables`.'),
    lenient: z
      .boolean()
      .default(false)
      .describe('Show the messages without the values that are missing too, and name those.'),
  }),
)

const renderDraft = defineRoute(
  {
    ...common,
    path: `${PATH}/render`,
    method: 'post',
    action: 'prompt.render',
    summary: 'Shows what a call would send of a prompt, or of messages that are not saved. Asks no model.',
    permission: 'config.read',
    json: draft,
    responses: {
      200: {
        description: 'The messages.',
        schema: () =>
          z.object({
            key: z.string().nullable(),
            version: z.int().nullable(),
            messages: messages(),
            missing: z
              .array(z.string())
              .describe('The variables without which a call is refused; in the messages they stand as `{{name}}`.'),
          }),
      },
    },
  },
  async ({ services, input, audits }) => {
    const { prompt_ref: ref, messages: written, variables, values: given = {}, lenient } = input.json
    if ((ref === undefined) === (written === undefined))
      throw mistake('messages', 'or prompt_ref is needed: one of the two')
    if (written !== undefined) {
      const template = templateOf(accepted(promptContent(), { messages: written, variables }))
      return json({ key: null, version: null, ...shown(template, given, lenient === true) })
    }
    const read = readPromptRef(ref ?? '')
    if (!read) throw mistake('prompt_ref', 'must have the form key, key@3 or key:label')
    audits({ resource_id: read.key })
    const { template, version } = await stored(services, read)
    return json({ key: read.key, version, ...shown(template, given, lenient === true) })
  },
)

export const promptRenderRoutes: readonly Route[] = [renderStored, renderDraft]

type Values = Readonly<Record<string, unknown>>

async function stored(
  services: ApiServices,
  {
    key,
    version,
    label,
  }: { readonly key: string; readonly version: number | undefined; readonly label: string | undefined },
): Promise<{ readonly template: Template; readonly version: number }> {
  const meant = versionMeant(await promptOf(services, key), { version, label })
  if (meant === undefined) throw noVersion(label === undefined ? 'version' : 'label')
  const template = storedTemplate(await versionOf(services, key, meant))
  if (!template) throw new TypeError(`version ${meant} of the prompt '${key}' cannot be read by this build`)
  return { template, version: meant }
}

function shown(template: Template, given: Values, lenient: boolean) {
  const missing = lenient ? missingIn(template.variables, given) : []
  if (missing.length === 0) return { messages: render(template, given, 'values'), missing }
  const names = new Set(missing)
  const optional = Object.entries(template.variables).map(([name, variable]) => [
    name,
    names.has(name) ? { type: 'string' as const } : variable,
  ])
  const standIns = Object.fromEntries(missing.map((name) => [name, `{{${name}}}`]))
  return {
    messages: render({ ...template, variables: Object.fromEntries(optional) }, { ...given, ...standIns }, 'values'),
    missing,
  }
}

function render(template: Template, given: Values, field: 'variables' | 'values') {
  const { texts, mistake: wrong } = textsOf(template.variables, given)
  if (wrong) throw mistake(`${field}.${wrong.name}`, wrong.message)
  if (template.length(texts) > LONGEST_PREVIEW) throw mistake(field, 'make the messages too long to show')
  return template.render(texts)
}
