import * as z from 'zod'
import { accepted } from '../../../config/accepted.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import type { LabelMove } from '../../../stores/sql/prompts/prompt-records.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import {
  applied,
  LATEST_VERSION,
  noVersion,
  one,
  promptAnswer,
  promptLabel,
  promptOf,
  unchanged,
} from './prompt-answers.ts'

const ofLabel = {
  ...one,
  path: `${one.path}/labels/{label}`,
  params: () => z.object({ key: z.string(), label: z.string() }),
  permission: 'config.update',
  responses: { 200: { description: 'The prompt.', schema: promptAnswer } },
} as const

const put = defineRoute(
  {
    ...ofLabel,
    method: 'put',
    action: 'prompt.move_label',
    summary: 'Moves a label to a version, or makes it. Calls that name the label mean it within five seconds.',
    json: () => z.strictObject({ version: z.int().min(1).max(LATEST_VERSION) }),
  },
  async (scope) => {
    const { services, input } = scope
    const { key } = input.params
    const { label } = accepted(labelled(), { label: input.params.label })
    await promptOf(services, key)
    const { version } = input.json
    const move = await services.records.prompts.moveLabel(key, label, version)
    if (!move) throw (await unchanged(services, key)) ?? noVersion()
    return labelMoved(scope, label, move)
  },
)

const remove = defineRoute(
  {
    ...ofLabel,
    method: 'delete',
    action: 'prompt.drop_label',
    summary: 'Removes a label. Calls that name it are refused.',
  },
  async (scope) => {
    const { services, input } = scope
    const { key, label } = input.params
    await promptOf(services, key)
    const move = promptLabel().safeParse(label).success
      ? await services.records.prompts.dropLabel(key, label)
      : undefined
    if (!move) throw (await unchanged(services, key)) ?? noLabel()
    return labelMoved(scope, label, move)
  },
)

const labelled = lazily(() =>
  z.strictObject({ label: promptLabel().default('production').describe('The label to move back.') }),
)

const rollBack = defineRoute(
  {
    ...one,
    path: `${one.path}/roll-back`,
    method: 'post',
    action: 'prompt.roll_back',
    summary: 'Moves a label back to the version that it named before its last move.',
    permission: 'config.update',
    json: labelled,
    responses: ofLabel.responses,
  },
  async (scope) => {
    const { services, input } = scope
    const { key } = input.params
    const { label } = accepted(labelled(), input.json)
    await promptOf(services, key)
    const move = await services.records.prompts.rollBack(key, label)
    if (move) return labelMoved(scope, label, move)
    const refused = await unchanged(services, key)
    if (refused) throw refused
    if (!Object.hasOwn((await promptOf(services, key)).labels, label)) throw noLabel()
    const message = 'The label has not named another version before.'
    throw new GatewayError('conflict', message, { param: 'label', code: 'nothing_to_roll_back' })
  },
)

export const promptLabelRoutes: readonly Route[] = [put, remove, rollBack]

async function labelMoved(
  { services, audits }: Pick<Scope, 'services' | 'audits'>,
  label: string,
  move: LabelMove,
): Promise<Answer> {
  const { prompt, from } = move
  audits({
    resource_id: prompt.key,
    changes: { [`labels.${label}`]: { old: from, new: prompt.labels[label] ?? null } },
  })
  return applied(services, prompt)
}

function noLabel(): GatewayError {
  return new GatewayError('not_found', 'The prompt has no such label.', { param: 'label' })
}
