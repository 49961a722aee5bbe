import * as z from 'zod'
import { ConfigError, type Mistake } from '../../../config/config-error.ts'
import { differencesOf } from '../../../config/differences.ts'
import type { Environment } from '../../../config/env-references.ts'
import { originsOf } from '../../../config/origins.ts'
import { placesIn } from '../../../config/places.ts'
import type { Config } from '../../../config/schema.ts'
import { lazily } from '../../../lib/lazily.ts'
import { providers } from '../../../providers/index.ts'
import { checkedConfig } from '../../../routing/checked-config.ts'
import { missingCredentials } from '../../../routing/missing-credentials.ts'
import { unknownNames } from '../../../routing/unknown-names.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'

const MOST_CHANGES = 500

const finding = () => ({
  path: z.string(),
  message: z.string().describe('Continues the sentence that the path begins.'),
})
const answer = lazily(() =>
  z.object({
    ok: z.boolean(),
    mistakes: z.array(
      z.object({
        ...finding(),
        line: z.int().nullable().describe('Of the key, or of the nearest one above it.'),
        column: z.int().nullable(),
      }),
    ),
    notes: z.array(z.object(finding())).describe('No mistakes, but worth a look.'),
    models: z.int().nullable(),
    deployments: z.int().nullable(),
    changes: z
      .array(
        z.object({
          path: z.string(),
          kind: z.enum(['added', 'removed', 'changed']),
          old: z.unknown(),
          new: z.unknown(),
        }),
      )
      .describe('What would differ from what runs. Secrets are "[secret]".'),
    more_changes: z.int().describe('Changes beyond those.'),
  }),
)

export const configCheck = defineRoute(
  {
    method: 'post',
    path: '/ui/api/config/check',
    summary:
      'Checks a whole configuration file: every mistake with its line, and the differences from the running configuration.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.read',
    json: () =>
      z.strictObject({ yaml: z.string().max(4_000_000).describe('The text of the file. Nothing of it is kept.') }),
    responses: { 200: { description: 'What there is to say of it.', schema: answer } },
  },
  ({ services: { config, registry, live }, input: { json: body } }) => {
    const found = readIn(body.yaml, originsOf(config)?.env ?? {})
    if (!('config' in found)) {
      const placeOf = placesIn(body.yaml)
      const mistakes = found.mistakes.map(({ path, message }) => {
        const { line = null, column = null } = placeOf(path) ?? {}
        return { path, message, line, column }
      })
      return json({ ok: false, mistakes, notes: [], models: null, deployments: null, changes: [], more_changes: 0 })
    }
    const { config: proposed } = found
    const models = new Set(proposed.model_list.map(({ model_name }) => model_name))
    const aliases = proposed.router_settings.model_group_alias
    const unknown = unknownNames(proposed, {
      group: (name) => models.has(name) || Object.hasOwn(aliases, name) || registry.resolve(name) !== undefined,
      credential: (name) => live.credentials().has(name),
    })
    const notes = [...unknown, ...missingCredentials(proposed, providers)]
    const changes = differencesOf(config, proposed)
    return json({
      ok: true,
      mistakes: [],
      notes,
      models: models.size,
      deployments: proposed.model_list.length,
      changes: changes.slice(0, MOST_CHANGES),
      more_changes: Math.max(0, changes.length - MOST_CHANGES),
    })
  },
)

/** The file as a start would read it, with the environment of this process. */
function readIn(
  yaml: string,
  env: Environment,
): { readonly config: Config } | { readonly mistakes: readonly Mistake[] } {
  try {
    return { config: checkedConfig(yaml, env) }
  } catch (error) {
    if (error instanceof ConfigError) return { mistakes: error.mistakes }
    throw error
  }
}
